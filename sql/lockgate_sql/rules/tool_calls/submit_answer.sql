create function lockgate.submit_answer(
  p_outcome lockgate.submit_outcome,
  p_session_id text,
  p_call lockgate_store.tool_calls,
  p_continuation uuid,
  p_field text
)
  returns lockgate.submit_result
  language sql stable
as $$
-- Writes the answer to a submit; of a call it tells only where there is one to be answered.
select (p_outcome, coalesce(p_call.session_id, p_session_id), p_call.tool_call_id,
  p_call.tool_name, p_call.run_id, p_continuation,
  (select r.start_sequence from lockgate_store.runs r where r.run_id = p_continuation),
  p_call.approved,
  case when p_field is not null then jsonb_build_object('field', p_field) end
)::lockgate.submit_result
$$;
