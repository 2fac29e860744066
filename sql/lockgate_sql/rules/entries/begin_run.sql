create function lockgate.begin_run(
  p_entry lockgate.entry,
  p_session lockgate_store.sessions,
  p_scene lockgate.entry_scene,
  p_outcome lockgate.entry_outcome
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
-- put back and the answer is `rejected`. Held by tests/races/test_raw_insert.py.
declare
  v_session lockgate_store.sessions := p_session;
  v_is_new boolean := p_session.session_id is null;
  v_current lockgate_store.runs := p_scene.current;
  v_is_live boolean := lockgate.is_live(v_current.status);
  v_is_continued boolean := lockgate.is_continued(p_entry, p_scene);
  v_now timestamptz := lockgate.now();
  v_message_count integer;
  v_run lockgate_store.runs;
begin
  if v_is_new then
    v_session := lockgate.insert_session(p_entry, p_first_run_due => false);
    if v_session.session_id is null then
      return null;
    end if;
  end if;
  if v_is_live then  -- What a terminal commit said is on the session, which is about to forget it.
    perform lockgate.set_run_ended(v_current, p_scene.current_ends, v_now,
      case when p_scene.current_ends <> 'superseded' then p_session.output end,
      case when p_scene.current_ends <> 'superseded' then p_session.error_detail end);
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
      v_current, v_run, p_scene, v_is_continued, v_message_count);
  end if;
  if v_is_continued and v_current.stop_kind is not null then
    perform lockgate.record_stop(v_run, v_current.stop_kind, v_current.stop_reason);
  end if;
  if p_scene.keeps_messages is not null then
    v_message_count := lockgate.rewind_history(v_run, p_scene.keeps_messages);
  end if;
  if p_entry.messages is not null then
    v_message_count := lockgate.append_messages(v_run, p_entry.messages, v_message_count);
  end if;
  perform lockgate.give_session(
    p_entry, v_run, v_is_new, p_scene.keeps_messages is not null, p_scene.restores_state,
    v_message_count);
  v_run.start_sequence := lockgate.open_stream(v_run);
  if v_is_continued then
    perform lockgate.write_chunks(
      v_run, lockgate.answer_chunks(v_run, v_current), p_commits => true);
  end if;
  if v_is_live and not v_is_continued and v_session.parent_session_id is not null then
    perform lockgate.tell_parent(v_session, p_scene.current_ends, v_session.output,
      v_session.error_detail);
  end if;
  perform lockgate.enqueue_drive(
    v_run.tenant_id, v_run.session_id, v_run.run_id, v_run.drive_id);
  return lockgate.entry_answer(p_entry, (p_outcome, v_run, null, null)::lockgate.entry_decision);
end;
$$;
