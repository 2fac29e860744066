create function lockgate.insert_session(p_entry lockgate.entry, p_first_run_due boolean)
  returns lockgate_store.sessions
  language plpgsql volatile
as $$
-- Makes the session of an entry or of create_session; an empty row if somebody was faster. The
-- new row is ours until the commit, as if it were locked. Identity is what the caller named; a
-- user who acts for himself is the session's user.
declare
  v_session lockgate_store.sessions;
  v_now timestamptz := lockgate.now();
begin
  -- A child is made under its parent's lock, so that no tree grows while it is deleted.
  if p_entry.parent_session_id is not null and not exists (
    select from lockgate_store.sessions s
     where s.tenant_id = p_entry.tenant_id and s.session_id = p_entry.session_id)
  then
    perform from lockgate_store.sessions p
      where p.tenant_id = p_entry.tenant_id and p.session_id = p_entry.parent_session_id
        for no key update;
  end if;
  insert into lockgate_store.sessions as s (
      tenant_id, session_id, agent_type, user_id, tags, metadata, parent_session_id,
      root_session_id, state, state_is_new, first_run_due, created_at, updated_at)
    values (
      p_entry.tenant_id, p_entry.session_id, p_entry.agent_type,
      coalesce(p_entry.user_id, p_entry.acting_user_id), coalesce(p_entry.tags, '{}'),
      coalesce(p_entry.metadata, '{}'), p_entry.parent_session_id, p_entry.root_session_id,
      coalesce(p_entry.state, '{}'), coalesce(p_entry.state <> '{}', false),
      p_first_run_due, v_now, v_now)
    on conflict do nothing
    returning s.* into v_session;
  return v_session;
end;
$$;
