create function lockgate.reject_entry(
  p_cause text,
  p_entry lockgate.entry,
  p_session lockgate_store.sessions,
  p_about lockgate_store.runs
)
  returns lockgate.entry_decision
  language sql immutable
as $$
-- Writes the rejection of a run start: its cause, and what stands instead of what was expected.
select ('rejected', p_about, p_cause, case p_cause
  when 'run_id_conflict' then jsonb_build_object('existingRunId', p_entry.run_id)
  when 'request_key_taken' then jsonb_build_object('existingRunId', p_about.run_id)
  when 'current_run_status_changed' then jsonb_build_object(
    'currentRunId', p_about.run_id, 'currentRunStatus', p_about.status)
  when 'current_run_owned' then jsonb_build_object(
    'currentRunId', p_about.run_id, 'ownerId', p_about.owner_id)
  when 'session_status_changed' then jsonb_build_object('sessionStatus', p_session.status)
  else jsonb_build_object('currentRunId', p_about.run_id)
  end)::lockgate.entry_decision
$$;
