create function lockgate.list_checkpoints(
  p_session_id text,
  p_limit integer default 50,
  p_offset integer default 0,
  p_acting_user_id text default null,
  p_tenant_id text default ''
)
  returns lockgate.list_result
  language plpgsql stable security definer
  set search_path = pg_catalog, pg_temp set timezone = 'UTC'
as $$
-- Reads a page of the places to which a session can be taken back, the newest first, in one
-- consistent look. An item is {id, stepCount, status, timestamp}: the id is opaque to callers, the
-- status is that of the run that wrote it.
--
-- Outcomes  first that applies:
--   invalid_request    detail names the field: limit is 1 to 200, offset not below 0
--   session_not_found  no such session, or another user's
--   page               total is the number of all its checkpoints
declare
  v_field text := lockgate.bad_page_field(p_limit, p_offset);
  v_total integer;
  v_items jsonb;
begin
  if v_field is not null then
    return lockgate.empty_list('invalid_request', v_field);
  end if;
  select (
      select count(*)::integer from lockgate_store.checkpoints c
       where c.tenant_id = s.tenant_id and c.session_id = s.session_id)
    into v_total
    from lockgate_store.sessions s
   where s.tenant_id = p_tenant_id and s.session_id = p_session_id
     and (p_acting_user_id is null or s.user_id = p_acting_user_id);
  if not found then
    return lockgate.empty_list('session_not_found');
  end if;
  select jsonb_agg(jsonb_build_object(
           'id', p.run_id || ':' || p.step, 'stepCount', p.step, 'status', r.status,
           'timestamp', p.created_at) order by p.turn desc, p.step desc)
    into v_items
    from (
      select c.*
        from lockgate_store.checkpoints c
       where c.tenant_id = p_tenant_id and c.session_id = p_session_id
       order by c.turn desc, c.step desc
       limit p_limit offset p_offset) p
    join lockgate_store.runs r
      on r.tenant_id = p.tenant_id and r.session_id = p.session_id and r.turn = p.turn;
  return ('page', coalesce(v_items, '[]'), v_total, p_offset::bigint + p_limit < v_total,
    null)::lockgate.list_result;
end;
$$;
