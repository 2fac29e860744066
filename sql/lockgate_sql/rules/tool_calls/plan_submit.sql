create type lockgate.plan_submit_result as (
  outcome lockgate.submit_outcome,
  session_id text,
  tool_call_id text,
  tool_name text,
  input jsonb,
  agent_type text,
  approved boolean,
  call_run_id uuid,
  detail jsonb
);

create function lockgate.plan_submit(
  p_session_id text,
  p_tool_call_id text,
  p_answer jsonb,
  p_acting_user_id text default null,
  p_tenant_id text default ''
)
  returns lockgate.plan_submit_result
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
-- Says what lockgate.submit_tool_result would say now, without a lock and without a write: for a
-- host that resolves the agent and checks the tool's output schema before anything is stored.
-- `accepted` carries the owner's agent type, and detail {identity}.
--
-- Outcomes  see lockgate.submit_tool_result
declare
  v_submit lockgate.submit := lockgate.read_submit(p_answer);
  v_call lockgate_store.tool_calls;
  v_session lockgate_store.sessions;
  v_outcome lockgate.submit_outcome := 'invalid_request'::lockgate.submit_outcome;
  v_detail jsonb := jsonb_build_object('field', coalesce(v_submit.bad_field, 'toolCallId'));
begin
  if v_submit.bad_field is null and p_tool_call_id is not null then
    v_call := lockgate.find_owned_call(
      p_tenant_id, p_session_id, p_tool_call_id, p_acting_user_id);
    v_outcome := lockgate.judge_submit(
      v_call, lockgate.run_of_submit(p_tenant_id, p_session_id, v_call, p_acting_user_id),
      v_submit);
    select s.* into v_session
      from lockgate_store.sessions s
     where s.tenant_id = v_call.tenant_id and s.session_id = v_call.session_id;
    v_detail := case when v_outcome = 'accepted' then jsonb_build_object(
      'identity', lockgate.plan_identity(null, v_session)) end;
  end if;
  return (v_outcome, coalesce(v_call.session_id, p_session_id), v_call.tool_call_id,
    v_call.tool_name, v_call.input, v_session.agent_type, v_call.approved, v_call.run_id,
    v_detail)::lockgate.plan_submit_result;
end;
$$;
