create function lockgate.enter_locked(p_entry lockgate.entry)
  returns lockgate.entry_result
  language plpgsql volatile
as $$
-- One try of the gate: with the session locked, or newly made, decide and write. The outcome is
-- null when the session appeared or vanished meanwhile: the caller tries again from the top.
--
-- Locks     session row, then the current run; begin_run goes on from there
-- Outcomes  see lockgate.decide_entry, and null
declare
  v_session lockgate_store.sessions := lockgate.lock_session(
    p_session_id => p_entry.session_id, p_tenant_id => p_entry.tenant_id);
  v_is_new boolean := v_session.session_id is null;
  v_current lockgate_store.runs;
  v_twin lockgate_store.runs;
  v_holder lockgate_store.runs;
  v_decision lockgate.entry_decision;
begin
  select r.* into v_twin from lockgate_store.runs r where r.run_id = p_entry.run_id;
  if not v_is_new then
    select r.* into v_current
      from lockgate_store.runs r
     where r.run_id = v_session.current_run_id
       and r.tenant_id = p_entry.tenant_id and r.session_id = p_entry.session_id
       for no key update;
    if p_entry.request_key is not null then
      select r.* into v_holder
        from lockgate_store.runs r
       where r.tenant_id = p_entry.tenant_id and r.session_id = p_entry.session_id
         and r.request_key = p_entry.request_key;
    end if;
  end if;

  v_decision := lockgate.decide_entry(
    p_entry => p_entry, p_session => v_session, p_current => v_current, p_twin => v_twin,
    p_holder => v_holder, p_executes => lockgate.is_executing(
      v_current, p_entry.dispatch_limit_ms, v_session.terminal_run_id));

  if v_decision.outcome = 'interrupting' then
    perform lockgate.record_stop(v_current, 'interrupt', 'superseded_by_new_entry');
  end if;
  if v_decision.outcome <> 'started' then
    return lockgate.entry_answer(p_entry, v_decision.outcome,
      case v_decision.about when 'twin' then v_twin when 'holder' then v_holder
        when 'current' then v_current end, v_decision.cause, v_decision.detail);
  end if;
  if v_is_new then
    v_session := lockgate.insert_session(p_entry, p_first_run_due => false);
    if v_session.session_id is null then
      return null;
    end if;
  end if;
  return lockgate.begin_run(p_entry, v_session, v_current, v_is_new);
end;
$$;
