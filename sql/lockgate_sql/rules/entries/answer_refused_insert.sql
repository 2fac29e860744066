create function lockgate.answer_refused_insert(
  p_entry lockgate.entry,
  p_session lockgate_store.sessions,
  p_is_new boolean
)
  returns lockgate.entry_result
  language plpgsql volatile
as $$
-- Answers when a unique index refused the run: a row that came in without the session's lock.
-- It is read again and decides as if it had been there before; null where it has vanished.
declare
  v_run lockgate_store.runs;
begin
  if p_is_new then
    delete from lockgate_store.sessions s
     where s.tenant_id = p_entry.tenant_id and s.session_id = p_entry.session_id;
  end if;
  select r.* into v_run from lockgate_store.runs r where r.run_id = p_entry.run_id;
  if found then
    return lockgate.entry_answer(p_entry, lockgate.plan_replay(v_run, p_entry), v_run,
      case when lockgate.plan_replay(v_run, p_entry) = 'rejected' then 'run_id_conflict' end);
  end if;
  select r.* into v_run
    from lockgate_store.runs r
   where r.tenant_id = p_entry.tenant_id and r.session_id = p_entry.session_id
     and r.request_key = p_entry.request_key;
  if found then
    return lockgate.entry_answer(p_entry, lockgate.plan_keyed_entry(
      v_run, p_entry.request_digest, p_session.current_run_id), v_run);
  end if;
  select r.* into v_run
    from lockgate_store.runs r
   where r.tenant_id = p_entry.tenant_id and r.session_id = p_entry.session_id
     and lockgate.is_live(r.status) and r.run_id is distinct from p_session.current_run_id;
  if found then
    return lockgate.entry_answer(p_entry, 'rejected', v_run, 'current_run_changed');
  end if;
  return null;
end;
$$;
