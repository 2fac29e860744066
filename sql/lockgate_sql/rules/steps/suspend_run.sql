create type lockgate.suspend_run_outcome as enum ('fenced', 'ended', 'continued', 'suspended');
create type lockgate.suspend_run_result as (
  outcome lockgate.suspend_run_outcome, run_status text, run_id uuid);

create function lockgate.suspend_run(
  p_session_id text,
  p_run_id uuid,
  p_attempt integer,
  p_step integer,
  p_state jsonb default null,
  p_chunks jsonb[] default '{}',
  p_tenant_id text default ''
)
  returns lockgate.suspend_run_result
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
-- Suspends a run whose step waits for somebody else: its client calls and approvals are announced
-- by this commit, which makes them answerable; session and stream are paused, the attempt is over.
-- p_state is the session's whole state, if the step has changed it.
--
-- Locks     session row, run row, stream row, tool-call rows; with a continuation all that
--           lockgate.enter names
-- Writes    sessions, runs, streams, stream_chunks, settlements, deliveries, recoveries; or see
--           lockgate.end_run; with a continuation also see lockgate.begin_run
-- Outcomes  first that applies:
--   fenced     the attempt is over; nothing written; run_status is how the run stands
--   ended      a stop stands: the run has ended with it; run_status is how
--   continued  what it waits for had come by now: run_id is the run that goes on
--   suspended  run_status is how
-- Raises    LG001; LG002 for another step than the open one, or with a server call unanswered
declare
  v_run lockgate_store.runs := lockgate.lock_attempt(
    p_session_id => p_session_id, p_run_id => p_run_id, p_attempt => p_attempt,
    p_tenant_id => p_tenant_id);
  v_continuation uuid;
  v_status text;
begin
  perform set_config('idle_in_transaction_session_timeout', '5000', true);
  if v_run.run_id is null then
    return ('fenced', (
      select r.status from lockgate_store.runs r
       where r.run_id = p_run_id and r.tenant_id = p_tenant_id and r.session_id = p_session_id
    ), null)::lockgate.suspend_run_result;
  end if;
  if v_run.stop_kind is not null then
    return ('ended', lockgate.end_stopped_run(v_run), null)::lockgate.suspend_run_result;
  end if;
  v_status := lockgate.pause_run(v_run, p_step, p_state, p_chunks);
  v_continuation := lockgate.continue_run(v_run);
  if v_continuation is not null then
    return ('continued', 'superseded', v_continuation)::lockgate.suspend_run_result;
  end if;
  return ('suspended', v_status, null)::lockgate.suspend_run_result;
end;
$$;
