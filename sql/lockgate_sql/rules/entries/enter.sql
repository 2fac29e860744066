create function lockgate.enter(p_entry lockgate.entry)
  returns lockgate.entry_result
  language plpgsql volatile
as $$
-- The gate. Every entry verb ends here: look ahead, lock, read, decide, write, answer.
--
-- Locks     session row, run rows, stream row, tool-call rows; DBOS's rows last
-- Writes    see lockgate.begin_run; `interrupting` records a stop on the executing run
-- Outcomes  see lockgate.decide_entry
-- Raises    LG001; LG003 when rows come and go under our eyes for ever; LG004
declare
  v_entry lockgate.entry := p_entry;
  v_session lockgate_store.sessions;
  v_scene lockgate.entry_scene;
  v_decision lockgate.entry_decision;
  v_answer lockgate.entry_result;
begin
  if v_entry.bad_field is not null then
    return lockgate.entry_answer(v_entry, row('invalid_request', null, null,
      jsonb_build_object('field', v_entry.bad_field))::lockgate.entry_decision);
  end if;
  if v_entry.names_run then
    v_entry.start_digest := lockgate.start_digest(v_entry);
  else
    v_entry.run_id := gen_random_uuid();
  end if;
  v_answer := lockgate.look_ahead(v_entry);
  if v_answer.outcome is not null then
    return v_answer;
  end if;

  for v_try in 1..5 loop
    v_session := lockgate.lock_session(
      p_session_id => v_entry.session_id, p_tenant_id => v_entry.tenant_id);
    v_scene := lockgate.read_scene(v_entry, v_session);
    v_decision := lockgate.decide_entry(v_entry, v_session, v_scene);
    if v_decision.outcome = 'interrupting' then
      perform lockgate.record_stop(v_scene.current, 'interrupt', 'superseded_by_new_entry');
    end if;
    if v_decision.outcome not in ('started', 'resumed') then
      return lockgate.entry_answer(v_entry, v_decision);
    end if;
    v_answer := lockgate.begin_run(v_entry, v_session, v_scene, v_decision.outcome);
    -- A row that an index knew and we did not is there to be read now: it decides.
    if v_answer.outcome is not null
       and coalesce(v_answer.cause, '') not in ('run_id_conflict', 'request_key_taken') then
      return v_answer;
    end if;
  end loop;
  raise sqlstate 'LG003' using message = 'the session is created and deleted without end';
end;
$$;
