create function lockgate.start(
  p_session_id text,
  p_agent_type text,
  p_input jsonb,
  p_request_key text default null,
  p_user_id text default null,
  p_tags text[] default null,
  p_metadata jsonb default null,
  p_parent_session_id text default null,
  p_root_session_id text default null,
  p_concurrent_entry text default 'reject',
  p_concurrent_entry_timeout_ms integer default 30000,
  p_run_id uuid default null,
  p_expect jsonb default null,
  p_dispatch_limit_ms integer default 30000,
  p_acting_user_id text default null,
  p_tenant_id text default ''
)
  returns lockgate.entry_result
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp set lock_timeout = '30s'
as $$
-- Starts a run with a user's message, on a new session or on one that stands idle, and hands it
-- to the workers: run, messages, session, stream and workflow are one commit, or nothing is.
--
-- p_input is {message, state?}. p_run_id chosen by the caller makes a repeat of this very call
-- harmless (`replayed`); p_expect {currentRunId, currentRunStatus, sessionStatus} is what a
-- planner read. The wait for the session's row ends after p_concurrent_entry_timeout_ms (55P03).
--
-- Locks     session row, then all else that lockgate.enter names
-- Writes    see lockgate.begin_run
-- Outcomes  see lockgate.decide_entry
-- Raises    LG001
begin
  if p_concurrent_entry_timeout_ms <> 30000 then  -- 0 would be a wait without end
    perform set_config('lock_timeout', greatest(p_concurrent_entry_timeout_ms, 1)::text, true);
  end if;
  return lockgate.enter(lockgate.read_start(
    p_session_id => p_session_id, p_agent_type => p_agent_type, p_input => p_input,
    p_request_key => p_request_key, p_user_id => p_user_id, p_tags => p_tags,
    p_metadata => p_metadata, p_parent_session_id => p_parent_session_id,
    p_root_session_id => p_root_session_id, p_concurrent_entry => p_concurrent_entry,
    p_run_id => p_run_id, p_expect => p_expect, p_dispatch_limit_ms => p_dispatch_limit_ms,
    p_acting_user_id => p_acting_user_id, p_tenant_id => p_tenant_id));
end;
$$;
