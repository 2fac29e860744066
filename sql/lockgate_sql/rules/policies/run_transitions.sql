create view lockgate.run_transitions (from_kind, target, verdict) as values
-- What a store client's write of a run's status comes to. A run that has ended stays as it ended,
-- and one whose terminal commit has landed can only end as that says.
  ('live', 'same', 'written'),
  ('live', 'other', 'written'),
  ('landed', 'same', 'written'),
  ('landed', 'other', 'superseded'),
  ('terminal', 'same', 'unchanged'),
  ('terminal', 'other', 'superseded');
