create function lockgate.entry_answer(
  p_entry lockgate.entry,
  p_outcome lockgate.entry_outcome,
  p_run lockgate_store.runs default null,
  p_cause text default null,
  p_detail jsonb default null
)
  returns lockgate.entry_result
  language plpgsql immutable
as $$
-- Writes an entry's answer. It names a run only where the run is this session's: the id of a run
-- that somebody else started under the same id is nobody's business here.
begin
  if p_run.session_id = p_entry.session_id and p_run.tenant_id = p_entry.tenant_id then
    return (p_outcome, p_entry.session_id, p_entry.session_id, p_run.run_id, p_run.status,
      p_run.start_sequence, p_cause, p_detail)::lockgate.entry_result;
  end if;
  return (p_outcome, p_entry.session_id, p_entry.session_id, null, null, null, p_cause,
    p_detail)::lockgate.entry_result;
end;
$$;
