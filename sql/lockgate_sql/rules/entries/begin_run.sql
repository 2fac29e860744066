create function lockgate.begin_run(
  p_entry lockgate.entry,
  p_session lockgate_store.sessions,
  p_current lockgate_store.runs,
  p_is_new boolean
)
  returns lockgate.entry_result
  language plpgsql volatile
as $$
-- Writes an accepted entry: the previous live run's end, the new run, its messages, the session,
-- the stream, and last the workflow that will drive it. The session is locked and current.
--
-- The new run goes in before anything else is written but the old run's status, because the
-- unique indexes may still refuse it (a row inserted without our lock): then the old status is
-- put back and the answer is what that row makes it. Held by races/raw_insert.
declare
  v_is_live boolean := lockgate.is_live(p_current.status);
  v_end_status text := case when p_session.terminal_run_id = p_current.run_id
    then p_session.terminal_status else 'superseded' end;
  v_now timestamptz := lockgate.now();
  v_head bigint;
  v_message_count integer := p_session.message_count;
  v_run lockgate_store.runs;
begin
  if not p_is_new then
    select s.head_sequence into v_head
      from lockgate_store.streams s
     where s.tenant_id = p_entry.tenant_id and s.session_id = p_entry.session_id;
  end if;
  if v_is_live then
    perform lockgate.set_run_ended(p_current, v_end_status, v_now);
  end if;
  -- The chunk that tells the old run's readers of the new one is still the old run's.
  v_run := lockgate.create_run(p_entry, p_session.turn_count + 1,
    coalesce(v_head, 0) + case when v_is_live and v_end_status = 'superseded' then 1 else 0 end,
    v_now);
  if v_run.run_id is null then
    if v_is_live then
      perform lockgate.put_run_back(p_current);
    end if;
    return lockgate.answer_refused_insert(p_entry, p_session, p_is_new);
  end if;

  if v_is_live then
    v_message_count := lockgate.settle_replaced_run(
      p_current, v_end_status, v_run, v_message_count);
  end if;
  v_message_count := lockgate.append_messages(v_run, p_entry.messages, v_message_count);
  update lockgate_store.sessions s
     set status = 'active',
         current_run_id = v_run.run_id,
         turn_count = v_run.turn,
         first_run_due = false,
         version = s.version + 1,
         state = case when p_is_new or p_entry.state is null then s.state
           else s.state || p_entry.state end,
         output = null,
         error_detail = null,
         message_count = v_message_count,
         updated_at = v_now
   where s.tenant_id = p_entry.tenant_id and s.session_id = p_entry.session_id;
  perform lockgate.open_stream(v_run, v_now);
  perform lockgate.enqueue_drive(
    v_run.tenant_id, v_run.session_id, v_run.run_id, v_run.drive_id);
  return lockgate.entry_answer(p_entry, 'started', v_run);
end;
$$;
