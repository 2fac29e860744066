create function lockgate.look_ahead(p_entry lockgate.entry)
  returns lockgate.entry_result
  language plpgsql stable
as $$
-- Answers what a plain read can prove, without a lock and without a write: this very run, and a
-- key that some committed run holds, since a committed key and its digest never change; another
-- user's session is told first. The outcome is null where only the lock can tell: that a key has
-- no holder is believed nowhere else.
--
-- Raises    LG001, by require_read_committed
declare
  v_twin lockgate_store.runs;
  v_holder lockgate_store.runs;
  v_session lockgate_store.sessions;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    perform lockgate.require_read_committed();
  end if;
  if p_entry.names_run then
    select r.* into v_twin from lockgate_store.runs r where r.run_id = p_entry.run_id;
  end if;
  if p_entry.request_key is not null and v_twin.run_id is null then
    select r.* into v_holder
      from lockgate_store.runs r
     where r.tenant_id = p_entry.tenant_id and r.session_id = p_entry.session_id
       and r.request_key = p_entry.request_key;
  end if;
  if v_twin.run_id is null and v_holder.run_id is null then
    return null;
  end if;
  select s.* into v_session
    from lockgate_store.sessions s
   where s.tenant_id = p_entry.tenant_id and s.session_id = p_entry.session_id;
  return lockgate.entry_answer(p_entry, lockgate.decide_entry(p_entry, v_session,
    row(null, v_holder, v_twin, null, null, null, false, null,
      null)::lockgate.entry_scene));
end;
$$;
