create function lockgate.broken_expectation(
  p_expect jsonb,
  p_session lockgate_store.sessions,
  p_current lockgate_store.runs
)
  returns text
  language sql immutable
as $$
-- Names the first thing a planner read that no longer holds, or null. Nothing expected means
-- whatever stands under the lock.
select case
    when p_expect is null then null
    when p_expect ->> 'currentRunId' is distinct from p_session.current_run_id::text
      then 'current_run_changed'
    when p_expect ->> 'currentRunStatus' is distinct from p_current.status
      then 'current_run_status_changed'
    when p_expect ->> 'sessionStatus' is distinct from p_session.status
      then 'session_status_changed'
  end
$$;
