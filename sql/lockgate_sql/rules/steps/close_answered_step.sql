create function lockgate.close_answered_step(
  p_run lockgate_store.runs,
  p_step integer,
  p_state jsonb
)
  returns void
  language plpgsql volatile
as $$
-- Commits the next step of a run whose calls all have their results: the results become history,
-- in the order of the calls, and readers are told of the children that have ended meanwhile.
-- p_state is the session's whole state, if the step changed it. The session and the run are locked.
--
-- Raises    LG002 for a step out of order, or when one of its calls has no result
declare
  v_count integer;
  v_chunks jsonb[] := lockgate.untold_chunks(p_run, p_step);
begin
  perform lockgate.require(
    p_step = p_run.step_count + 1 and not exists (
      select from lockgate_store.tool_calls c
       where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
         and c.run_id = p_run.run_id and c.step = p_step and c.status = 'pending'),
    'the next step is committed when each of its calls has its result',
    jsonb_build_object('runId', p_run.run_id, 'step', p_step, 'stepCount', p_run.step_count));
  select lockgate.pair_calls(p_run, s.message_count) into v_count
    from lockgate_store.sessions s
   where s.tenant_id = p_run.tenant_id and s.session_id = p_run.session_id;
  perform lockgate.close_step(p_run, p_step, v_count, p_state, v_chunks);
end;
$$;
