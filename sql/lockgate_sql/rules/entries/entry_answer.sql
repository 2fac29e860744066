create function lockgate.entry_answer(
  p_entry lockgate.entry,
  p_decision lockgate.entry_decision
)
  returns lockgate.entry_result
  language plpgsql immutable
as $$
-- Writes an entry's answer. It names a run only where the run is this session's: the id of a run
-- that somebody else started under the same id is nobody's business here.
declare
  v_run lockgate_store.runs := p_decision.about;
begin
  if v_run.session_id = p_entry.session_id and v_run.tenant_id = p_entry.tenant_id then
    return (p_decision.outcome, p_entry.session_id, p_entry.session_id, v_run.run_id,
      v_run.status, v_run.start_sequence, p_decision.cause,
      p_decision.detail)::lockgate.entry_result;
  end if;
  return (p_decision.outcome, p_entry.session_id, p_entry.session_id, null, null, null,
    p_decision.cause, p_decision.detail)::lockgate.entry_result;
end;
$$;
