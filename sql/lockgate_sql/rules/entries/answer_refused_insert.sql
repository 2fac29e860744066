create function lockgate.answer_refused_insert(
  p_entry lockgate.entry,
  p_session lockgate_store.sessions,
  p_is_new boolean
)
  returns lockgate.entry_result
  language plpgsql volatile
as $$
-- Answers when a unique index refused the run: a row that came in without the session's lock. It
-- is read again, and named by the cause it would have had if it had been there before; null where
-- it has vanished. A session that was made for this entry is taken back.
declare
  v_run lockgate_store.runs;
  v_cause text;
begin
  if p_is_new then
    delete from lockgate_store.sessions s
     where s.tenant_id = p_entry.tenant_id and s.session_id = p_entry.session_id;
  end if;
  select r.* into v_run
    from lockgate_store.runs r
   where r.run_id = p_entry.run_id
      or r.tenant_id = p_entry.tenant_id and r.session_id = p_entry.session_id
         and (r.request_key = p_entry.request_key
           or lockgate.is_live(r.status) and r.run_id is distinct from p_session.current_run_id)
   order by r.run_id = p_entry.run_id desc,
         coalesce(r.request_key = p_entry.request_key, false) desc
   limit 1;
  if not found then
    return null;
  end if;
  v_cause := case
    when v_run.run_id = p_entry.run_id then 'run_id_conflict'
    when v_run.request_key = p_entry.request_key then 'request_key_taken'
    else 'current_run_changed' end;
  return lockgate.entry_answer(p_entry,
    lockgate.reject_entry(v_cause, p_entry, p_session, v_run));
end;
$$;
