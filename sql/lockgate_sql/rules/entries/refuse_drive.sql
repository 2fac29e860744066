create function lockgate.refuse_drive(
  p_entry lockgate.entry,
  p_session lockgate_store.sessions,
  p_scene lockgate.entry_scene
)
  returns lockgate.entry_decision
  language plpgsql stable
as $$
-- Refuses a resume or a retry that the session's standing does not take, or whose checkpoint is
-- none of this session's; the outcome is null where neither is so.
--
-- Raises    LG004 for a standing that lockgate.drive_admissions does not know: a damaged row
declare
  v_standing text := lockgate.session_standing(p_session, p_scene);
  v_verdict text;
begin
  select a.verdict into v_verdict
    from lockgate.drive_admissions a
   where a.standing = v_standing and a.drive = p_entry.drive;
  if not found then
    raise sqlstate 'LG004' using message = 'a stored status is none of the known ones',
      detail = jsonb_build_object('standing', v_standing)::text;
  end if;
  if v_verdict <> 'admitted' then
    return ('not_resumable', p_scene.current, null, jsonb_build_object(
      'sessionStatus', p_session.status,
      'awaitingToolCallIds', to_jsonb(lockgate.awaited_calls(p_scene.current)),
      'retryable', v_verdict = 'refused_for_now'))::lockgate.entry_decision;
  end if;
  if p_entry.checkpoint_id is not null and p_scene.keeps_messages is null then
    return row('invalid_request', null, null,
      jsonb_build_object('field', 'checkpointId'))::lockgate.entry_decision;
  end if;
  return null;
end;
$$;
