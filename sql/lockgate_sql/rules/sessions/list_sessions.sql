create function lockgate.list_sessions(
  p_user_id text default null,
  p_agent_type text default null,
  p_statuses text[] default null,
  p_parent_session_id text default null,
  p_roots_only boolean default false,
  p_tags text[] default null,
  p_metadata jsonb default null,
  p_created_from timestamptz default null,
  p_created_to timestamptz default null,
  p_limit integer default 50,
  p_offset integer default 0,
  p_acting_user_id text default null,
  p_tenant_id text default ''
)
  returns lockgate.list_result
  language plpgsql stable security definer
  set search_path = pg_catalog, pg_temp set timezone = 'UTC' set plan_cache_mode = force_custom_plan
as $$
-- Reads a page of the sessions that pass every filter given, the newest first and those of one
-- moment by their ids, in one consistent look. A session has all of p_tags and p_metadata, one of
-- p_statuses, and was created at p_created_from or later, but before p_created_to. p_roots_only:
-- those without a parent. Who acts for a user sees that user's only. Which filters are given
-- decides the index, so the plan is made anew for each call.
--
-- Outcomes  invalid_request, whose detail names the field, or page; total counts all that pass
declare
  v_field text := coalesce(
    lockgate.bad_filter_field(
      p_tenant_id => p_tenant_id, p_agent_type => p_agent_type, p_statuses => p_statuses,
      p_parent_session_id => p_parent_session_id, p_roots_only => p_roots_only,
      p_created_from => p_created_from, p_created_to => p_created_to),
    lockgate.bad_identity_field(
      p_user_id => p_user_id, p_acting_user_id => null, p_tags => p_tags,
      p_metadata => p_metadata, p_parent_session_id => p_parent_session_id,
      p_root_session_id => null),
    lockgate.bad_page_field(p_limit, p_offset));
  v_total integer;
  v_items jsonb;
begin
  if v_field is not null then
    return lockgate.empty_list('invalid_request', v_field);
  end if;
  with found as (
    select s.session_id, s.created_at
      from lockgate_store.sessions s
     where s.tenant_id = p_tenant_id
       and (p_acting_user_id is null or s.user_id = p_acting_user_id)
       and (p_user_id is null or s.user_id = p_user_id)
       and (p_agent_type is null or s.agent_type = p_agent_type)
       and (p_statuses is null or s.status = any (p_statuses))
       and (p_parent_session_id is null or s.parent_session_id = p_parent_session_id)
       and (not p_roots_only or s.parent_session_id is null)
       and (p_tags is null or s.tags @> p_tags)
       and (p_metadata is null or s.metadata @> p_metadata)
       and (p_created_from is null or s.created_at >= p_created_from)
       and (p_created_to is null or s.created_at < p_created_to)
  ), page as (
    select f.session_id
      from found f
     order by f.created_at desc, f.session_id
     limit p_limit offset p_offset
  )
  select (select count(*)::integer from found),
         jsonb_agg(lockgate.session_item(s) order by s.created_at desc, s.session_id)
    into v_total, v_items
    from page p
    join lockgate_store.sessions s on s.tenant_id = p_tenant_id and s.session_id = p.session_id;
  return ('page', coalesce(v_items, '[]'), v_total, p_offset::bigint + p_limit < v_total,
    null)::lockgate.list_result;
end;
$$;
