create function lockgate.plan_entry(p_entry lockgate.entry)
  returns lockgate.entry_result
  language plpgsql stable
as $$
-- Decides an entry from one unlocked look, as lockgate.enter will decide it again under the lock.
declare
  v_entry lockgate.entry := p_entry;
  v_session lockgate_store.sessions;
  v_scene lockgate.entry_scene;
  v_current lockgate_store.runs;
  v_decision lockgate.entry_decision;
  v_answer lockgate.entry_result;
begin
  if p_entry.bad_field is not null then
    return lockgate.entry_answer(p_entry, row('invalid_request', null, null,
      jsonb_build_object('field', p_entry.bad_field))::lockgate.entry_decision);
  end if;
  v_entry.start_digest := lockgate.start_digest(p_entry);
  v_answer := lockgate.look_ahead(v_entry);
  if v_answer.outcome is not null then
    return v_answer;
  end if;
  select s.* into v_session
    from lockgate_store.sessions s
   where s.tenant_id = p_entry.tenant_id and s.session_id = p_entry.session_id;
  v_scene := lockgate.read_scene(v_entry, v_session);
  v_current := v_scene.current;
  v_decision := lockgate.decide_entry(v_entry, v_session, v_scene);
  if v_decision.outcome in ('started', 'resumed', 'interrupting') then
    v_decision.detail := jsonb_build_object(
      'expect', jsonb_build_object(
        'currentRunId', v_session.current_run_id, 'currentRunStatus', v_current.status,
        'sessionStatus', v_session.status),
      'identity', lockgate.plan_identity(p_entry, v_session));
  end if;
  return lockgate.entry_answer(p_entry, v_decision);
end;
$$;
