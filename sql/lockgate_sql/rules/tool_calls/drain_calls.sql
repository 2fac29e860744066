create function lockgate.drain_calls(
  p_run lockgate_store.runs,
  p_step integer,
  p_message_count integer
)
  returns integer
  language plpgsql volatile
as $$
-- Turns the answers of a step's calls into one message, in the order of the calls. The rows stay
-- as tombstones. Returns the session's message count.
declare
  v_content jsonb;
begin
  with drained as (
    update lockgate_store.tool_calls c
       set status = 'consumed', consumed_at = lockgate.now()
     where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
       and c.run_id = p_run.run_id and c.step = p_step and c.status = 'answered'
    returning c.*
  )
  select jsonb_agg(lockgate.result_part(
           drained.tool_call_id, drained.tool_name, drained.response) order by drained.ordinal)
    into v_content
    from drained;
  if v_content is null then
    return p_message_count;
  end if;
  return lockgate.append_message(p_run, 'tool', v_content, p_message_count, p_step);
end;
$$;
