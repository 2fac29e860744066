create function lockgate.answer_existing_session(
  p_entry lockgate.entry,
  p_session lockgate_store.sessions
)
  returns lockgate.create_session_result
  language plpgsql immutable
as $$
-- Answers create_session for an id that exists: what the session was made with decides.
declare
  v_field text := lockgate.changed_identity_field(p_entry, p_session);
begin
  if p_entry.acting_user_id is not null
     and p_session.user_id is distinct from p_entry.acting_user_id then
    return ('session_not_found', p_entry.session_id, null, null)::lockgate.create_session_result;
  end if;
  if p_session.agent_type <> p_entry.agent_type then
    return ('agent_type_mismatch', p_entry.session_id, null,
      null)::lockgate.create_session_result;
  end if;
  if v_field is not null then
    return ('identity_mismatch', p_entry.session_id, null,
      jsonb_build_object('field', v_field))::lockgate.create_session_result;
  end if;
  return ('existing', p_entry.session_id, p_session.status, null)::lockgate.create_session_result;
end;
$$;
