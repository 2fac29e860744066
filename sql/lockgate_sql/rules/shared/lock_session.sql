create function lockgate.lock_session(
  p_session_id text,
  p_acting_user_id text default null,
  p_lock_timeout_ms integer default null,
  p_tenant_id text default ''
)
  returns lockgate_store.sessions
  language plpgsql volatile
as $$
-- Takes the session's row lock and returns the row; an empty row where there is no session, or
-- where it is another user's. Every rule that writes and names a session begins here. To the
-- transaction's end no lock is waited for longer than p_lock_timeout_ms, where it is given.
--
-- Locks     session row
-- Raises    LG001, by require_read_committed
declare
  v_session lockgate_store.sessions;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    perform lockgate.require_read_committed();
  end if;
  if p_lock_timeout_ms is not null then
    -- 0 would be a wait without end.
    perform set_config('lock_timeout', greatest(p_lock_timeout_ms, 1)::text, true);
  end if;
  select s.* into v_session
    from lockgate_store.sessions s
   where s.tenant_id = p_tenant_id
     and s.session_id = p_session_id
     and (p_acting_user_id is null or s.user_id = p_acting_user_id)
     for no key update;
  return v_session;
end;
$$;
