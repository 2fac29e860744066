create function lockgate.resume(
  p_session_id text,
  p_agent_type text,
  p_options jsonb,
  p_request_key text default null,
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
-- Starts a run that goes on with a session that was interrupted, is suspended with nothing left to
-- wait for, or was left behind by what executed it.
--
-- p_options is {mode: continue}, {mode: with_message, message} or {mode: from_checkpoint,
-- checkpointId}: the last cuts the history back to the checkpoint, in the same commit. Whatever
-- the session's last run still had open gets its result in history, before the message. The other
-- arguments are as in lockgate.start.
--
-- Locks     session row, then all else that lockgate.enter names
-- Writes    see lockgate.begin_run
-- Outcomes  see lockgate.decide_entry
-- Raises    LG001; LG003 and LG004, by lockgate.enter
begin
  if p_concurrent_entry_timeout_ms <> 30000 then  -- 0 would be a wait without end
    perform set_config('lock_timeout', greatest(p_concurrent_entry_timeout_ms, 1)::text, true);
  end if;
  return lockgate.enter(lockgate.read_resume(
    p_session_id => p_session_id, p_agent_type => p_agent_type, p_options => p_options,
    p_request_key => p_request_key, p_concurrent_entry => p_concurrent_entry,
    p_run_id => p_run_id, p_expect => p_expect, p_dispatch_limit_ms => p_dispatch_limit_ms,
    p_acting_user_id => p_acting_user_id, p_tenant_id => p_tenant_id));
end;
$$;
