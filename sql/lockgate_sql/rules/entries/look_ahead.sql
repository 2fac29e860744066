create function lockgate.look_ahead(p_entry lockgate.entry)
  returns lockgate.entry_result
  language plpgsql stable
as $$
-- Answers what one plain statement can prove, without a lock and without a write: another user's
-- session, this very run, and a key that some committed run holds, since a committed key and its
-- digest never change. Ownership is tested first. The outcome is null where only the lock can
-- tell: that a key has no holder is believed nowhere else.
--
-- Raises    LG001, by require_read_committed
declare
  v_seen record;
  v_twin lockgate_store.runs;
  v_holder lockgate_store.runs;
  v_outcome lockgate.entry_outcome;
begin
  perform lockgate.require_read_committed();
  select s.user_id, s.current_run_id, t as twin, h as holder into v_seen
    from lockgate_store.sessions s
    left join lockgate_store.runs t on t.run_id = p_entry.run_id
    left join lockgate_store.runs h
      on h.tenant_id = s.tenant_id and h.session_id = s.session_id
     and h.request_key = p_entry.request_key
   where s.tenant_id = p_entry.tenant_id and s.session_id = p_entry.session_id;
  if not found then
    return null;
  end if;
  if p_entry.acting_user_id is not null and v_seen.user_id is distinct from p_entry.acting_user_id then
    return lockgate.entry_answer(p_entry, 'session_not_found');
  end if;
  v_twin := v_seen.twin;
  v_holder := v_seen.holder;
  if v_twin.run_id is not null then
    v_outcome := lockgate.plan_replay(v_twin, p_entry);
    return lockgate.entry_answer(p_entry, v_outcome, v_twin,
      case when v_outcome = 'rejected' then 'run_id_conflict' end);
  end if;
  if v_holder.run_id is null then
    return null;
  end if;
  return lockgate.entry_answer(p_entry,
    lockgate.plan_keyed_entry(v_holder, p_entry.request_digest, v_seen.current_run_id), v_holder);
end;
$$;
