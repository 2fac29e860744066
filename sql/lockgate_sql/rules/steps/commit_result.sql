create function lockgate.commit_result(
  p_session_id text,
  p_run_id uuid,
  p_attempt integer,
  p_step integer,
  p_ordinal integer,
  p_response jsonb,
  p_closes_step boolean default false,
  p_state jsonb default null,
  p_chunks jsonb[] default '{}',
  p_usage jsonb default null,
  p_tenant_id text default ''
)
  returns lockgate.step_result
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
-- Saves one server tool's result, so that its body never runs again, and tells readers by a
-- tool_end chunk. p_response is {success, result} or {success, error}. The last result of a step
-- may commit the step with it: see lockgate.close_answered_step. p_state is the session's whole
-- state, if the call has changed it: it is saved with the result, for the body never runs again.
--
-- Locks     session row, run row, stream row, tool-call row
-- Writes    tool_calls, streams, usage; with p_state sessions; with the step also messages, runs
--           and checkpoints
-- Outcomes  first that applies:
--   fenced    the attempt is over; nothing written
--   repeated  the call has its result, or is not one of this step's; nothing written
--   saved
-- Raises    LG001; LG002 when p_closes_step is said and a call of the step has no result
declare
  v_run lockgate_store.runs := lockgate.lock_attempt(
    p_session_id => p_session_id, p_run_id => p_run_id, p_attempt => p_attempt,
    p_tenant_id => p_tenant_id);
  v_tool_call_id text;
begin
  if v_run.run_id is null then
    return row('fenced', null, null, null)::lockgate.step_result;
  end if;
  update lockgate_store.tool_calls c
     set status = 'answered', response = p_response, submitted_at = lockgate.now()
   where c.tenant_id = p_tenant_id and c.session_id = p_session_id and c.run_id = p_run_id
     and c.step = p_step and c.ordinal = p_ordinal and c.status = 'pending'
  returning c.tool_call_id into v_tool_call_id;
  if not found then
    return lockgate.step_answer(v_run, 'repeated');
  end if;
  perform lockgate.record_usage(v_run, p_step, p_usage);
  perform lockgate.write_chunks(v_run, p_chunks || lockgate.make_chunk(
    v_run, 'tool_end', jsonb_build_object('toolCallId', v_tool_call_id) || p_response, p_step),
    p_commits => true);
  if p_closes_step then
    perform lockgate.close_answered_step(v_run, p_step, p_state);
  elsif p_state is not null then
    update lockgate_store.sessions s
       set state = p_state, state_is_new = true, version = s.version + 1,
           updated_at = lockgate.now()
     where s.tenant_id = p_tenant_id and s.session_id = p_session_id;
  end if;
  return lockgate.step_answer(v_run, 'saved');
end;
$$;
