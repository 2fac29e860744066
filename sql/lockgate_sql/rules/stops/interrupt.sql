create function lockgate.interrupt(
  p_session_id text,
  p_run_id uuid default null,
  p_reason text default null,
  p_include_suspended boolean default false,
  p_acting_user_id text default null,
  p_tenant_id text default ''
)
  returns lockgate.request_stop_result
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
-- Asks a run to end interrupted at its next boundary, to be resumed later. Without p_run_id it is
-- the run that is live now, and the answer says which; who may ask twice names it.
--
-- Locks     session row, run row
-- Writes    runs
-- Outcomes  see lockgate.request_stop
-- Raises    LG001
begin
  return lockgate.request_stop(
    p_session_id => p_session_id, p_kind => 'interrupt', p_run_id => p_run_id,
    p_reason => p_reason, p_include_suspended => coalesce(p_include_suspended, false),
    p_acting_user_id => p_acting_user_id, p_tenant_id => p_tenant_id);
end;
$$;
