create function lockgate.lock_call(
  p_tenant_id text,
  p_session_id text,
  p_tool_call_id text,
  p_acting_user_id text
)
  returns lockgate_store.tool_calls
  language plpgsql volatile
as $$
-- Finds the call that a submit means and takes the lock of the session that has it, or of the one
-- that was named where there is none. Which one has it is read before the lock and again under it:
-- a child that comes to wait in between is locked too.
--
-- Locks     the session row of the call
-- Raises    LG001
declare
  v_call lockgate_store.tool_calls;
  v_locked text;
begin
  loop
    v_call := lockgate.find_owned_call(
      p_tenant_id, p_session_id, p_tool_call_id, p_acting_user_id);
    exit when v_locked is not distinct from coalesce(v_call.session_id, p_session_id);
    v_locked := coalesce(v_call.session_id, p_session_id);
    perform lockgate.lock_session(p_session_id => v_locked, p_tenant_id => p_tenant_id);
  end loop;
  return v_call;
end;
$$;
