create type lockgate.continue_session_outcome as enum (
  'session_not_found', 'stale', 'continued');
create type lockgate.continue_session_result as (
  outcome lockgate.continue_session_outcome, run_id uuid);

create function lockgate.continue_session(
  p_session_id text,
  p_acting_user_id text default null,
  p_lock_timeout_ms integer default null,
  p_tenant_id text default ''
)
  returns lockgate.continue_session_result
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
-- Starts the run that goes on with a paused session whose whole batch has come and that nobody
-- continued. Our own rules never leave one so: the last answer, or the end of the last sub-agent,
-- starts it in its own commit. A sweep finds one that was left by other hands, and it is judged
-- again here, under the lock.
--
-- Locks     session row; with a continuation all that lockgate.enter names
-- Writes    tool_calls of sub-agents that have ended; or see lockgate.begin_run
-- Outcomes  first that applies:
--   session_not_found  no such session, or another user's; nothing written
--   stale              it is not paused, or something is awaited; nothing written
--   continued          run_id is the run that goes on
-- Raises    LG001
declare
  v_session lockgate_store.sessions := lockgate.lock_session(
    p_session_id => p_session_id, p_acting_user_id => p_acting_user_id,
    p_lock_timeout_ms => p_lock_timeout_ms, p_tenant_id => p_tenant_id);
  v_run lockgate_store.runs;
begin
  if v_session.session_id is null then
    return row('session_not_found', null)::lockgate.continue_session_result;
  end if;
  select r.* into v_run
    from lockgate_store.runs r
   where r.run_id = v_session.current_run_id
     and r.tenant_id = v_session.tenant_id and r.session_id = v_session.session_id
     and r.run_id is distinct from v_session.terminal_run_id;
  if not found or not lockgate.is_complete_batch(v_run) then
    return row('stale', null)::lockgate.continue_session_result;
  end if;
  update lockgate_store.tool_calls c
     set status = 'answered', submitted_at = lockgate.now(),
         response = lockgate.child_response(k.status, k.output, k.error_detail)
    from lockgate_store.children k
   where c.tenant_id = p_tenant_id and c.session_id = p_session_id and c.run_id = v_run.run_id
     and c.status = 'pending'
     and k.tenant_id = c.tenant_id and k.session_id = c.session_id
     and c.tool_call_id = any (k.tool_call_id || k.waiting_call_ids);
  return ('continued', lockgate.continue_run(v_run))::lockgate.continue_session_result;
end;
$$;
