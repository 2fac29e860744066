create function lockgate.plan_entry(p_entry lockgate.entry)
  returns lockgate.entry_result
  language plpgsql stable
as $$
-- Decides an entry from one unlocked look, as lockgate.enter will decide it again under the lock.
declare
  v_entry lockgate.entry := p_entry;
  v_session lockgate_store.sessions;
  v_current lockgate_store.runs;
  v_decision lockgate.entry_decision;
  v_answer lockgate.entry_result;
begin
  if p_entry.bad_field is not null then
    return lockgate.entry_answer(p_entry, 'invalid_request',
      p_detail => jsonb_build_object('field', p_entry.bad_field));
  end if;
  v_entry.start_digest := lockgate.start_digest(p_entry);
  v_answer := lockgate.look_ahead(v_entry);
  if v_answer.outcome is not null then
    return v_answer;
  end if;
  select s.* into v_session
    from lockgate_store.sessions s
   where s.tenant_id = p_entry.tenant_id and s.session_id = p_entry.session_id;
  select r.* into v_current
    from lockgate_store.runs r
   where r.run_id = v_session.current_run_id
     and r.tenant_id = p_entry.tenant_id and r.session_id = p_entry.session_id;
  v_decision := lockgate.decide_entry(
    p_entry => p_entry, p_session => v_session, p_current => v_current, p_twin => null,
    p_holder => null, p_executes => lockgate.is_executing(
      v_current, p_entry.dispatch_limit_ms, v_session.terminal_run_id));
  if v_decision.outcome in ('started', 'interrupting') then
    v_decision.detail := jsonb_build_object(
      'expect', jsonb_build_object(
        'currentRunId', v_session.current_run_id, 'currentRunStatus', v_current.status,
        'sessionStatus', v_session.status),
      'identity', lockgate.plan_identity(p_entry, v_session));
  end if;
  return lockgate.entry_answer(p_entry, v_decision.outcome,
    case when v_decision.about = 'current' then v_current end, v_decision.cause,
    v_decision.detail);
end;
$$;
