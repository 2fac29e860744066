create function lockgate.pair_calls(
  p_run lockgate_store.runs,
  p_reason text,
  p_message_count integer
)
  returns integer
  language plpgsql volatile
as $$
-- Gives every open call of a run that ends its result in history, so that no stored history holds
-- a call without one: an answer that is there counts, anything else was not executed, and p_reason
-- says why. The calls are abandoned. Returns the session's message count.
declare
  v_content jsonb;
  v_step integer;
begin
  perform from lockgate_store.tool_calls c
    where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
      and c.run_id = p_run.run_id and c.status in ('pending', 'answered');
  if not found then
    return p_message_count;
  end if;
  with closed as (
    update lockgate_store.tool_calls c
       set status = 'abandoned'
     where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
       and c.run_id = p_run.run_id and c.status in ('pending', 'answered')
    returning c.*
  )
  select jsonb_agg(lockgate.result_part(
           closed.tool_call_id, closed.tool_name, coalesce(closed.response, jsonb_build_object(
             'success', false, 'error', 'Not executed: ' || p_reason, 'reason', p_reason)))
           order by closed.ordinal), max(closed.step)
    into v_content, v_step
    from closed;
  return lockgate.append_message(p_run, 'tool', v_content, p_message_count, v_step);
end;
$$;
