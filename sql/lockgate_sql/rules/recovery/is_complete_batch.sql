create function lockgate.is_complete_batch(p_run lockgate_store.runs)
  returns boolean
  language sql stable
as $$
-- Says whether all that a suspended run waits for has come: it has calls that are in no message
-- yet, and each of them has its answer, or is that of a sub-agent that has ended.
select p_run.status in ('suspended_client_tool', 'suspended_awaiting_children')
  and coalesce((
    select bool_and(c.status = 'answered' or c.kind = 'subagent' and exists (
             select from lockgate_store.children k
              where k.tenant_id = c.tenant_id and k.session_id = c.session_id
                and c.tool_call_id = any (k.tool_call_id || k.waiting_call_ids)
                and k.ended_at is not null))
      from lockgate_store.tool_calls c
     where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
       and c.run_id = p_run.run_id and c.status in ('pending', 'answered')), false)
$$;
