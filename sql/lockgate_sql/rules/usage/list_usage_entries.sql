create function lockgate.list_usage_entries(
  p_session_id text,
  p_after bigint default 0,
  p_limit integer default 1000,
  p_acting_user_id text default null,
  p_tenant_id text default ''
)
  returns lockgate.list_result
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
-- Reads a page of what a session's runs have used, in the order it was recorded. An item is {entry,
-- runId, stepCount, source, kind, timestamp, …}: entry is the cursor, timestamp is in milliseconds.
--
-- Outcomes  first that applies:
--   invalid_request    detail names the field: after is not below 0, limit 1 to 1,000
--   session_not_found  no such session, or another user's
--   page               the entries after p_after; total is the number of all
declare
  v_page lockgate.list_result;
begin
  if p_after is null or p_after < 0 then
    return lockgate.empty_list('invalid_request', 'after');
  end if;
  if p_limit is null or p_limit not between 1 and 1000 then
    return lockgate.empty_list('invalid_request', 'limit');
  end if;
  if not exists (
    select from lockgate_store.sessions s
     where s.tenant_id = p_tenant_id and s.session_id = p_session_id
       and (p_acting_user_id is null or s.user_id = p_acting_user_id))
  then
    return lockgate.empty_list('session_not_found');
  end if;
  select 'page'::lockgate.list_outcome, coalesce(jsonb_agg(u.detail || jsonb_build_object(
           'entry', u.entry, 'runId', u.run_id, 'stepCount', u.step, 'source', u.source,
           'kind', u.kind, 'timestamp', floor(extract(epoch from u.recorded_at) * 1000))
           order by u.entry) filter (where u.place <= p_limit), '[]'),
         (select count(*)::integer from lockgate_store.usage a
           where a.tenant_id = p_tenant_id and a.session_id = p_session_id),
         count(*) > p_limit, null::jsonb
    into v_page
    from (
      select e.*, row_number() over (order by e.entry) as place
        from lockgate_store.usage e
       where e.tenant_id = p_tenant_id and e.session_id = p_session_id and e.entry > p_after
       order by e.entry limit p_limit + 1
    ) u;
  return v_page;
end;
$$;
