create function lockgate.register_calls(
  p_run lockgate_store.runs,
  p_step integer,
  p_calls jsonb
)
  returns void
  language plpgsql volatile
as $$
-- Stores a reply's calls, each under an announced id. p_calls are {id?, toolName, input, kind?,
-- retentionMs?} in the model's order; without a kind a call is the server's. How long a tombstone
-- is kept is fixed here, whatever the agent says later.
declare
  v_root_session_id text := (
    select s.root_session_id from lockgate_store.sessions s
     where s.tenant_id = p_run.tenant_id and s.session_id = p_run.session_id);
  v_call record;
begin
  for v_call in
    select c.value, c.ordinality::integer as ordinal,
           coalesce(c.value ->> 'kind', 'server') as kind
      from jsonb_array_elements(p_calls) with ordinality c
  loop
    insert into lockgate_store.tool_calls (
        tenant_id, session_id, run_id, step, ordinal, model_call_id, tool_call_id, tool_name, kind,
        input, approval_id, retention_ms, root_session_id)
      values (
        p_run.tenant_id, p_run.session_id, p_run.run_id, p_step, v_call.ordinal,
        coalesce(v_call.value ->> 'id', ''),
        lockgate.announced_id(p_run, p_step, v_call.ordinal, v_call.value ->> 'id'),
        v_call.value ->> 'toolName', v_call.kind, v_call.value -> 'input',
        case when v_call.kind = 'approval' then gen_random_uuid()::text end,
        (v_call.value ->> 'retentionMs')::bigint, v_root_session_id);
  end loop;
end;
$$;
