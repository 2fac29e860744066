create view lockgate.entry_policies (policy, current_run, verdict) as values
-- What an entry that wants a new run makes of the session's current run, by its policy.
  ('reject', 'executes', 'already_running'),
  ('reject', 'stands', 'started'),
  ('interrupt_previous', 'executes', 'interrupting'),
  ('interrupt_previous', 'stands', 'started');
