create view lockgate.entry_policies (policy, verdict) as values
-- What an entry that wants a new run makes of a run that executes, by its policy. A live run that
-- nothing executes never stands in the way.
  ('reject', 'already_running'),
  ('interrupt_previous', 'interrupting');
