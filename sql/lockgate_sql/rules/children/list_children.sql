create type lockgate.child_item as (
  child_session_id text,
  agent_type text,
  name text,
  mode text,
  location text,
  status text,
  output jsonb,
  error_detail jsonb,
  created_at timestamptz,
  ended_at timestamptz
);

create function lockgate.list_children(
  p_session_id text,
  p_acting_user_id text default null,
  p_tenant_id text default ''
)
  returns setof lockgate.child_item
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
-- The children of a session, oldest first; none where there is no session, or it is another user's.
select c.child_session_id, c.agent_type, c.name, c.mode, c.location, c.status, c.output,
       c.error_detail, c.created_at, c.ended_at
  from lockgate_store.children c
  join lockgate_store.sessions s on s.tenant_id = c.tenant_id and s.session_id = c.session_id
 where c.tenant_id = p_tenant_id and c.session_id = p_session_id
   and (p_acting_user_id is null or s.user_id = p_acting_user_id)
 order by c.created_at, c.child_session_id
$$;
