create function lockgate.step_answer(
  p_run lockgate_store.runs,
  p_outcome lockgate.step_outcome
)
  returns lockgate.step_result
  language sql stable
as $$
-- Writes a drive commit's answer.
select (p_outcome,
  (select s.head_sequence from lockgate_store.streams s
    where s.tenant_id = p_run.tenant_id and s.session_id = p_run.session_id),
  p_run.stop_kind,
  lockgate.list_calls(p_run))::lockgate.step_result
$$;
