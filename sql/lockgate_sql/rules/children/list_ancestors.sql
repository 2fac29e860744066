create type lockgate.ancestor_item as (session_id text, agent_type text);

create function lockgate.list_ancestors(
  p_session_id text,
  p_tenant_id text default ''
)
  returns setof lockgate.ancestor_item
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
-- The sessions that a child descends from, the root first: for a drive, whose agent's hooks come
-- after theirs. Only a parent that has the child on record counts. At most thirty-two.
with recursive up as (
  select s.session_id, s.parent_session_id, s.agent_type, 0 as height
    from lockgate_store.sessions s
   where s.tenant_id = p_tenant_id and s.session_id = p_session_id
  union all
  select p.session_id, p.parent_session_id, p.agent_type, u.height + 1
    from up u
    join lockgate_store.children c
      on c.tenant_id = p_tenant_id and c.session_id = u.parent_session_id
     and c.child_session_id = u.session_id
    join lockgate_store.sessions p
      on p.tenant_id = p_tenant_id and p.session_id = u.parent_session_id
   where u.height < 32
)
select u.session_id, u.agent_type
  from up u
 where u.height > 0
 order by u.height desc
$$;
