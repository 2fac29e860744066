create function lockgate.list_messages(
  p_session_id text,
  p_after integer default 0,
  p_limit integer default 1000,
  p_acting_user_id text default null,
  p_tenant_id text default ''
)
  returns lockgate.list_result
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
-- Reads a page of a session's history in its order, in one consistent look. An item is {seq,
-- role, content, runId, step, clientId?}; a history of fewer items than total is not whole.
--
-- Outcomes  first that applies:
--   invalid_request    detail names the field: after is not below 0, limit 1 to 1,000
--   session_not_found  no such session, or another user's
--   page               the messages after p_after; total is the number of all
declare
  v_total integer;
  v_last integer;
begin
  if p_after is null or p_after < 0 then
    return lockgate.empty_list('invalid_request', 'after');
  end if;
  if p_limit is null or p_limit not between 1 and 1000 then
    return lockgate.empty_list('invalid_request', 'limit');
  end if;
  select s.message_count into v_total
    from lockgate_store.sessions s
   where s.tenant_id = p_tenant_id and s.session_id = p_session_id
     and (p_acting_user_id is null or s.user_id = p_acting_user_id);
  if not found then
    return lockgate.empty_list('session_not_found');
  end if;
  v_last := least(p_after::bigint + p_limit, v_total)::integer;
  return (
    'page', lockgate.list_history(p_tenant_id, p_session_id, v_last, p_after), v_total,
    v_last < v_total, null)::lockgate.list_result;
end;
$$;
