create function lockgate.plan_retry(
  p_session_id text,
  p_agent_type text,
  p_checkpoint_id text default null,
  p_message jsonb default null,
  p_request_key text default null,
  p_concurrent_entry text default 'reject',
  p_run_id uuid default null,
  p_expect jsonb default null,
  p_dispatch_limit_ms integer default 30000,
  p_acting_user_id text default null,
  p_tenant_id text default ''
)
  returns lockgate.entry_result
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
-- Says what lockgate.retry would say now, without a lock and without a write; `resumed` carries
-- the detail that lockgate.plan_start describes.
--
-- Outcomes  see lockgate.decide_entry
-- Raises    LG001; LG004, by lockgate.refuse_drive
begin
  return lockgate.plan_entry(lockgate.read_retry(
    p_session_id => p_session_id, p_agent_type => p_agent_type,
    p_checkpoint_id => p_checkpoint_id, p_message => p_message,
    p_request_key => p_request_key, p_concurrent_entry => p_concurrent_entry,
    p_run_id => p_run_id, p_expect => p_expect, p_dispatch_limit_ms => p_dispatch_limit_ms,
    p_acting_user_id => p_acting_user_id, p_tenant_id => p_tenant_id));
end;
$$;
