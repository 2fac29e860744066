create type lockgate.finish_run_outcome as enum ('fenced', 'finished');
create type lockgate.finish_run_result as (
  outcome lockgate.finish_run_outcome, run_status text);

create function lockgate.finish_run(
  p_session_id text,
  p_run_id uuid,
  p_attempt integer,
  p_status text,
  p_output jsonb default null,
  p_error_detail jsonb default null,
  p_partial jsonb default null,
  p_tenant_id text default ''
)
  returns lockgate.finish_run_result
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
-- Ends a run: terminal session commit, run status, stream end, pairing of open calls and the
-- settlement are one commit, and it ends the attempt. p_status is completed, failed, or stopped:
-- then the recorded stop says which. p_partial is what a cut-off reply had said so far.
--
-- Locks     session row, run row, stream row, tool-call rows
-- Writes    see lockgate.end_run
-- Outcomes  first that applies:
--   fenced    the attempt is over, also by this very end; run_status tells; nothing written
--   finished  run_status is how
-- Raises    LG001; LG002 for another p_status, or stopped where no stop stands
declare
  v_run lockgate_store.runs := lockgate.lock_attempt(
    p_session_id => p_session_id, p_run_id => p_run_id, p_attempt => p_attempt,
    p_tenant_id => p_tenant_id);
begin
  -- The caller's transaction goes on: a worker that freezes in it must not hold the session's row.
  perform set_config('idle_in_transaction_session_timeout', '5000', true);
  if v_run.run_id is null then
    return ('fenced', (
      select r.status from lockgate_store.runs r
       where r.run_id = p_run_id and r.tenant_id = p_tenant_id and r.session_id = p_session_id
    ))::lockgate.finish_run_result;
  end if;
  if p_status = 'stopped' and v_run.stop_kind is not null then
    return ('finished', lockgate.end_stopped_run(v_run, p_partial))::lockgate.finish_run_result;
  end if;
  perform lockgate.require(
    p_status in ('completed', 'failed'),
    'a drive ends its run completed, failed or, where a stop stands, stopped',
    jsonb_build_object('runId', p_run_id, 'status', p_status));
  perform lockgate.end_run(
    p_run => v_run, p_status => p_status, p_output => p_output,
    p_error_detail => p_error_detail, p_partial => p_partial);
  return ('finished', p_status)::lockgate.finish_run_result;
end;
$$;
