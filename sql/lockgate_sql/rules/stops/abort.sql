create function lockgate.abort(
  p_session_id text,
  p_run_id uuid default null,
  p_reason text default null,
  p_acting_user_id text default null,
  p_tenant_id text default ''
)
  returns lockgate.request_stop_result
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
-- Asks a run to end failed, cancelled, at its next boundary. It outranks an interrupt. Without
-- p_run_id it is the run that is live now; of a suspended one nothing is written.
--
-- Locks     session row, run row
-- Writes    runs
-- Outcomes  see lockgate.request_stop
-- Raises    LG001
begin
  return lockgate.request_stop(
    p_session_id => p_session_id, p_kind => 'abort', p_run_id => p_run_id,
    p_reason => p_reason, p_include_suspended => false,
    p_acting_user_id => p_acting_user_id, p_tenant_id => p_tenant_id);
end;
$$;
