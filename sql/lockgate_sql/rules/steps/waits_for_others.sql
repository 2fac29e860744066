create function lockgate.waits_for_others(p_run lockgate_store.runs)
  returns boolean
  language sql stable
as $$
-- Says whether a run's open step has come to where only others can go on: it has calls that are not
-- ours to run, and all that is ours to run, or to start, has been.
select exists (
    select from lockgate_store.tool_calls c
     where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
       and c.run_id = p_run.run_id and c.step = p_run.step_count + 1 and c.kind <> 'server')
  and not exists (
    select from lockgate_store.tool_calls c
     where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
       and c.run_id = p_run.run_id and c.status = 'pending'
       and (c.kind = 'server' or c.approved or c.kind = 'subagent' and not exists (
         select from lockgate_store.children k
          where k.tenant_id = c.tenant_id and k.session_id = c.session_id
            and c.tool_call_id = any (k.tool_call_id || k.waiting_call_ids))))
$$;
