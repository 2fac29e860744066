create function lockgate.take_over_calls(p_run lockgate_store.runs, p_next lockgate_store.runs)
  returns boolean
  language plpgsql volatile
as $$
-- Gives the open step of a suspended run to the run that goes on with it, where all of it has come
-- and something of it is still to be executed: an approved call without a result. It is that run's
-- first step then, to be closed when the body has run, and all results become history together.
-- Says whether it was given.
begin
  if not coalesce((
    select bool_and(c.status = 'answered') and bool_or(c.approved and c.response is null)
      from lockgate_store.tool_calls c
     where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
       and c.run_id = p_run.run_id and c.status in ('pending', 'answered')), false)
  then
    return false;
  end if;
  update lockgate_store.tool_calls c
     set run_id = p_next.run_id,
         step = 1,
         status = case when c.response is null then 'pending' else c.status end
   where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
     and c.run_id = p_run.run_id and c.status = 'answered';
  return true;
end;
$$;
