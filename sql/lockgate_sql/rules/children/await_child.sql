create type lockgate.await_child_outcome as enum (
  'fenced', 'child_not_found', 'repeated', 'ended', 'waiting');
create type lockgate.await_child_result as (
  outcome lockgate.await_child_outcome,
  child_session_id text,
  status text,
  head_sequence bigint,
  stop_kind text
);

create function lockgate.await_child(
  p_session_id text,
  p_run_id uuid,
  p_attempt integer,
  p_tool_call_id text,
  p_name text,
  p_tenant_id text default ''
)
  returns lockgate.await_child_result
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
-- Has a sub-agent's call wait for a companion that is there: the end of the run that is under way
-- answers it. A companion that is idle answers at once, with what its last run came to.
--
-- Locks     session row, run row, tool-call row
-- Writes    children; or tool_calls
-- Outcomes  first that applies:
--   fenced           the attempt is over; nothing written
--   child_not_found  no companion has that name; nothing written
--   repeated         the call waits, or has its answer, or is none of this run's; nothing written
--   ended            the companion is idle, and the call is answered
--   waiting          its end will answer
-- Raises    LG001
declare
  v_run lockgate_store.runs := lockgate.lock_attempt(
    p_session_id => p_session_id, p_run_id => p_run_id, p_attempt => p_attempt,
    p_tenant_id => p_tenant_id);
  v_child lockgate_store.children;
  v_outcome lockgate.await_child_outcome := 'waiting'::lockgate.await_child_outcome;
begin
  if v_run.run_id is null then
    return row('fenced', null, null, null, null)::lockgate.await_child_result;
  end if;
  v_child := lockgate.find_child(v_run, null, p_name);
  if v_child.session_id is null then
    v_outcome := 'child_not_found'::lockgate.await_child_outcome;
  elsif p_tool_call_id = any (v_child.waiting_call_ids) or not exists (
    select from lockgate_store.tool_calls c
     where c.tenant_id = p_tenant_id and c.session_id = p_session_id and c.run_id = p_run_id
       and c.tool_call_id = p_tool_call_id and c.kind = 'subagent' and c.status = 'pending')
  then
    v_outcome := 'repeated'::lockgate.await_child_outcome;
  elsif v_child.ended_at is not null then
    v_outcome := 'ended'::lockgate.await_child_outcome;
    update lockgate_store.tool_calls c
       set status = 'answered', submitted_at = lockgate.now(), response = lockgate.child_response(
             v_child.status, v_child.output, v_child.error_detail)
     where c.tenant_id = p_tenant_id and c.session_id = p_session_id and c.run_id = p_run_id
       and c.tool_call_id = p_tool_call_id;
  else
    update lockgate_store.children c
       set waiting_call_ids = c.waiting_call_ids || p_tool_call_id
     where c.tenant_id = p_tenant_id and c.session_id = p_session_id
       and c.child_session_id = v_child.child_session_id;
  end if;
  return (v_outcome, v_child.child_session_id, v_child.status,
    (lockgate.step_answer(v_run, 'saved')).head_sequence, v_run.stop_kind)
    ::lockgate.await_child_result;
end;
$$;
