create type lockgate.fail_session_without_run_outcome as enum (
  'session_not_found', 'has_run', 'unchanged', 'failed');
create type lockgate.fail_session_without_run_result as (
  outcome lockgate.fail_session_without_run_outcome);

create function lockgate.fail_session_without_run(
  p_session_id text,
  p_error_detail jsonb,
  p_acting_user_id text default null,
  p_lock_timeout_ms integer default null,
  p_tenant_id text default ''
)
  returns lockgate.fail_session_without_run_result
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
-- Records that a session's first entry failed before any run existed: on the session only, and
-- only while there is none. No stream, no hook, no settlement. A run that commits meanwhile wins.
--
-- A parent that waits for it is told.
--
-- Locks     session row, then its parent's
-- Writes    sessions; for a child see lockgate.tell_parent
-- Outcomes  first that applies:
--   session_not_found  no such session, or another user's; nothing written
--   has_run            a run exists, whatever its status; nothing written
--   unchanged          the failure is already recorded; nothing written
--   failed             status and error_detail are written
declare
  v_session lockgate_store.sessions := lockgate.lock_session(
    p_session_id => p_session_id, p_acting_user_id => p_acting_user_id,
    p_lock_timeout_ms => p_lock_timeout_ms, p_tenant_id => p_tenant_id);
begin
  if v_session.session_id is null then
    return row('session_not_found')::lockgate.fail_session_without_run_result;
  end if;
  if v_session.current_run_id is not null then
    return row('has_run')::lockgate.fail_session_without_run_result;
  end if;
  if v_session.status = 'failed' then
    return row('unchanged')::lockgate.fail_session_without_run_result;
  end if;
  update lockgate_store.sessions s
     set status = 'failed',
         error_detail = p_error_detail,
         first_run_due = false,
         version = s.version + 1,
         updated_at = lockgate.now()
   where s.tenant_id = p_tenant_id and s.session_id = p_session_id;
  perform lockgate.tell_parent(v_session, 'failed', null, p_error_detail);
  return row('failed')::lockgate.fail_session_without_run_result;
end;
$$;
