create function lockgate.find_owned_call(
  p_tenant_id text,
  p_session_id text,
  p_tool_call_id text,
  p_acting_user_id text
)
  returns lockgate_store.tool_calls
  language plpgsql stable
as $$
-- Finds the call that a submit means, where both the session that was named and the call's own are
-- the acting user's.
declare
  v_call lockgate_store.tool_calls := lockgate.find_call(
    p_tenant_id, p_session_id, p_tool_call_id, p_acting_user_id);
begin
  if p_acting_user_id is not null and exists (
    select from lockgate_store.sessions s
     where s.tenant_id = p_tenant_id and s.session_id in (p_session_id, v_call.session_id)
       and s.user_id is distinct from p_acting_user_id)
  then
    return null;
  end if;
  return v_call;
end;
$$;
