create function lockgate.register_calls(
  p_run lockgate_store.runs,
  p_step integer,
  p_calls jsonb
)
  returns void
  language plpgsql volatile
as $$
-- Stores a reply's calls, each under an announced id. p_calls are {id?, toolName, input} in the
-- model's order.
declare
  v_call record;
begin
  for v_call in
    select c.value, c.ordinality::integer as ordinal
      from jsonb_array_elements(p_calls) with ordinality c
  loop
    insert into lockgate_store.tool_calls (
        tenant_id, session_id, run_id, step, ordinal, model_call_id, tool_call_id, tool_name,
        input)
      values (
        p_run.tenant_id, p_run.session_id, p_run.run_id, p_step, v_call.ordinal,
        coalesce(v_call.value ->> 'id', ''),
        lockgate.announced_id(p_run, p_step, v_call.ordinal, v_call.value ->> 'id'),
        v_call.value ->> 'toolName', v_call.value -> 'input');
  end loop;
end;
$$;
