create function lockgate.pair_calls(p_run lockgate_store.runs, p_message_count integer)
  returns integer
  language plpgsql volatile
as $$
-- Turns the open calls of a run into one message of results, in the order of the calls, so that no
-- stored history holds a call without one. An answer that is there counts, and its row stays as a
-- tombstone; a call without one is abandoned, and was not executed, as far as is known: see
-- lockgate.not_executed. Returns the session's message count.
declare
  v_results jsonb;
  v_step integer;
begin
  with closed as (
    update lockgate_store.tool_calls c
       set status = case when c.response is null then 'abandoned' else 'consumed' end,
           consumed_at = case when c.response is not null then lockgate.now() end
     where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
       and c.run_id = p_run.run_id and c.status in ('pending', 'answered')
    returning c.*
  )
  select jsonb_agg(lockgate.result_part(
           closed.tool_call_id, closed.tool_name,
           coalesce(closed.response, lockgate.not_executed(
             case when closed.approved then 'server' else closed.kind end,
             closed.begun_at is not null)))
           order by closed.ordinal), max(closed.step)
    into v_results, v_step
    from closed;
  if v_results is null then
    return p_message_count;
  end if;
  return lockgate.append_message(p_run, 'tool', v_results, p_message_count, v_step);
end;
$$;
