create function lockgate.begin_run(
  p_entry lockgate.entry,
  p_session lockgate_store.sessions,
  p_scene lockgate.entry_scene
)
  returns lockgate.entry_result
  language plpgsql volatile
as $$
-- Writes an accepted entry: the previous live run's end, the new run, its messages, the session,
-- the stream, and last the workflow that will drive it. The session is locked, or is made here; a
-- null outcome says that somebody else made it meanwhile, and nothing is written.
--
-- The new run goes in before anything else is written but the old run's status, because the
-- unique indexes may still refuse it (a row inserted without our lock): then the old status is
-- put back and the answer is what that row makes it. Held by tests/races/test_raw_insert.py.
declare
  v_session lockgate_store.sessions := p_session;
  v_is_new boolean := p_session.session_id is null;
  v_current lockgate_store.runs := p_scene.current;
  v_is_live boolean := lockgate.is_live(v_current.status);
  v_end_status text := 'superseded';
  v_now timestamptz := lockgate.now();
  v_message_count integer;
  v_run lockgate_store.runs;
  v_head bigint;
begin
  if v_is_new then
    v_session := lockgate.insert_session(p_entry, p_first_run_due => false);
    if v_session.session_id is null then
      return null;
    end if;
  end if;
  if v_session.terminal_run_id = v_current.run_id then
    v_end_status := v_session.terminal_status;
  end if;
  if v_is_live then
    perform lockgate.set_run_ended(v_current, v_end_status, v_now);
  end if;
  v_run := lockgate.create_run(p_entry, v_session.turn_count + 1, p_scene.head_sequence, v_now);
  if v_run.run_id is null then
    if v_is_live then
      perform lockgate.put_run_back(v_current);
    end if;
    return lockgate.answer_refused_insert(p_entry, v_session, v_is_new);
  end if;

  v_message_count := v_session.message_count;
  if v_is_live then
    v_message_count := lockgate.settle_replaced_run(
      v_current, v_end_status, p_scene.has_open_calls, v_message_count);
  end if;
  v_message_count := lockgate.append_messages(v_run, p_entry.messages, v_message_count);
  update lockgate_store.sessions s
     set status = 'active',
         current_run_id = v_run.run_id,
         turn_count = v_run.turn,
         first_run_due = false,
         version = s.version + 1,
         state = case when v_is_new or p_entry.state is null then s.state
           else s.state || p_entry.state end,
         output = null,
         error_detail = null,
         message_count = v_message_count,
         updated_at = v_now
   where s.tenant_id = p_entry.tenant_id and s.session_id = p_entry.session_id;
  v_head := lockgate.open_stream(v_run);
  if v_head <> v_run.start_sequence then  -- A drive that counts as dead woke and appended.
    v_run.start_sequence := v_head;
    update lockgate_store.runs r set start_sequence = v_head where r.run_id = v_run.run_id;
  end if;
  perform lockgate.enqueue_drive(
    v_run.tenant_id, v_run.session_id, v_run.run_id, v_run.drive_id);
  return lockgate.entry_answer(p_entry, 'started', v_run);
end;
$$;
