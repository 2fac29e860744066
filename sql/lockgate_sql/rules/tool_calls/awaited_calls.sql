create function lockgate.awaited_calls(p_run lockgate_store.runs)
  returns text[]
  language sql stable
as $$
-- The announced ids of the calls that a suspended run still waits for, in their order.
select coalesce(array_agg(c.tool_call_id order by c.step, c.ordinal), '{}')
  from lockgate_store.tool_calls c
 where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
   and c.run_id = p_run.run_id and c.status = 'pending'
   and c.kind in ('client', 'approval') and c.approved is null
$$;
