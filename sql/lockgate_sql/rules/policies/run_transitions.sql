create view lockgate.run_transitions (from_kind, target, verdict) as values
-- What a store client's write of a run's status comes to. A run that has ended stays as it ended.
  ('live', 'same', 'written'),
  ('live', 'other', 'written'),
  ('terminal', 'same', 'unchanged'),
  ('terminal', 'other', 'superseded');
