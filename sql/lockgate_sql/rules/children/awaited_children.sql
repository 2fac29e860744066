create function lockgate.awaited_children(p_run lockgate_store.runs)
  returns jsonb
  language sql stable
as $$
-- The sessions of the children that a run's calls wait for, in the order of the calls.
select coalesce(jsonb_agg(k.child_session_id order by c.ordinal), '[]')
  from lockgate_store.tool_calls c
  join lockgate_store.children k
    on k.tenant_id = c.tenant_id and k.session_id = c.session_id
   and c.tool_call_id = any (k.tool_call_id || k.waiting_call_ids)
 where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
   and c.run_id = p_run.run_id and c.status = 'pending' and c.kind = 'subagent'
$$;
