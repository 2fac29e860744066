create view lockgate.stranded_runs as
-- Which runs does nothing execute, why, since when, and how often were they tried without progress?
-- The first thousand of lockgate.list_stranded_runs: a view's reader has no right to ask DBOS.
select s.tenant_id, s.session_id, s.run_id, s.finding, s.since, clock_timestamp() - s.since as age,
       s.owner_id, s.attempt, s.lost_attempts, s.last_failure_code, s.next_at
  from lockgate.list_stranded_runs() s;
