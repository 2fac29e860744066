create function lockgate.retry(
  p_session_id text,
  p_agent_type text,
  p_checkpoint_id text default null,
  p_message jsonb default null,
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
-- Starts a run that tries again where a failed session's last run failed. The history is cut back
-- to the named checkpoint, or without one to the last committed step; the input that failed stays,
-- and only p_message adds one. The other arguments are as in lockgate.start.
--
-- Locks     session row, then all else that lockgate.enter names
-- Writes    see lockgate.begin_run
-- Outcomes  see lockgate.decide_entry
-- Raises    LG001; LG003 and LG004, by lockgate.enter
begin
  if p_concurrent_entry_timeout_ms <> 30000 then  -- 0 would be a wait without end
    perform set_config('lock_timeout', greatest(p_concurrent_entry_timeout_ms, 1)::text, true);
  end if;
  return lockgate.enter(lockgate.read_retry(
    p_session_id => p_session_id, p_agent_type => p_agent_type,
    p_checkpoint_id => p_checkpoint_id, p_message => p_message,
    p_request_key => p_request_key, p_concurrent_entry => p_concurrent_entry,
    p_run_id => p_run_id, p_expect => p_expect, p_dispatch_limit_ms => p_dispatch_limit_ms,
    p_acting_user_id => p_acting_user_id, p_tenant_id => p_tenant_id));
end;
$$;
