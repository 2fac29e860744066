create function lockgate.commit_step(
  p_session_id text,
  p_run_id uuid,
  p_attempt integer,
  p_step integer,
  p_state jsonb default null,
  p_chunks jsonb[] default '{}',
  p_tenant_id text default ''
)
  returns lockgate.step_result
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
-- Commits a step whose calls all have their results, where the last of them did not commit it: see
-- lockgate.close_answered_step, also for p_state.
--
-- Locks     session row, run row, stream row, tool-call rows
-- Writes    tool_calls, messages, sessions, runs, checkpoints, streams, recoveries
-- Outcomes  first that applies:
--   fenced    the attempt is over; nothing written
--   repeated  the step is committed; nothing written
--   saved
-- Raises    LG001; LG002 for a step out of order, or when one of its calls has no result
declare
  v_run lockgate_store.runs := lockgate.lock_attempt(
    p_session_id => p_session_id, p_run_id => p_run_id, p_attempt => p_attempt,
    p_tenant_id => p_tenant_id);
begin
  if v_run.run_id is null then
    return row('fenced', null, null, null)::lockgate.step_result;
  end if;
  if v_run.step_count >= p_step then
    return lockgate.step_answer(v_run, 'repeated');
  end if;
  perform lockgate.write_chunks(v_run, p_chunks);
  perform lockgate.close_answered_step(v_run, p_step, p_state);
  return lockgate.step_answer(v_run, 'saved');
end;
$$;
