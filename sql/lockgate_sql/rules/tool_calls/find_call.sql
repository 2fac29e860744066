create function lockgate.find_call(
  p_tenant_id text,
  p_session_id text,
  p_tool_call_id text,
  p_acting_user_id text
)
  returns lockgate_store.tool_calls
  language sql stable
as $$
-- Finds the call that a submit means: one of the session's own, else one of a descendant whose root
-- the session is, the one that waits before those that are over, and what is announced before what
-- is not. A call that nobody submits to is none, or a sub-agent's call would hide its child's. As
-- anybody may name any session as a root, the user's own descendants come before all others.
-- Each half has an index of its own: an `or` of both would read the whole tenant's.
select c.*
  from (
    select o.* from lockgate_store.tool_calls o
     where o.tenant_id = p_tenant_id and o.session_id = p_session_id
       and o.tool_call_id = p_tool_call_id
    union all
    select d.* from lockgate_store.tool_calls d
     where d.tenant_id = p_tenant_id and d.root_session_id = p_session_id
       and d.tool_call_id = p_tool_call_id and d.session_id <> p_session_id
  ) c
  join lockgate_store.runs r
    on r.tenant_id = c.tenant_id and r.session_id = c.session_id and r.run_id = c.run_id
  join lockgate_store.sessions s
    on s.tenant_id = c.tenant_id and s.session_id = c.session_id
  left join lockgate_store.sessions n
    on n.tenant_id = c.tenant_id and n.session_id = p_session_id
 where c.kind in ('client', 'approval')
 order by c.session_id = p_session_id desc,
          s.user_id is not distinct from coalesce(p_acting_user_id, n.user_id) desc,
          c.status = 'pending' desc, r.status <> 'running' desc,
          coalesce(c.submitted_at, r.started_at) desc, c.session_id
 limit 1
$$;
