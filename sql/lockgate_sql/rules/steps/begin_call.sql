create function lockgate.begin_call(
  p_session_id text,
  p_run_id uuid,
  p_attempt integer,
  p_step integer,
  p_ordinal integer,
  p_tenant_id text default ''
)
  returns lockgate.step_result
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
-- Records that the body of a call begins, before it does: for a tool that must not run twice. A
-- drive that finds it recorded knows that a body was begun whose outcome nobody will learn.
--
-- Locks     session row, run row, tool-call row
-- Writes    tool_calls
-- Outcomes  first that applies:
--   fenced    the attempt is over; nothing written
--   repeated  a body was begun before, or the call is not open; nothing written
--   saved     this body may begin
-- Raises    LG001
declare
  v_run lockgate_store.runs := lockgate.lock_attempt(
    p_session_id => p_session_id, p_run_id => p_run_id, p_attempt => p_attempt,
    p_tenant_id => p_tenant_id);
begin
  if v_run.run_id is null then
    return row('fenced', null, null, null)::lockgate.step_result;
  end if;
  update lockgate_store.tool_calls c
     set begun_at = lockgate.now()
   where c.tenant_id = p_tenant_id and c.session_id = p_session_id and c.run_id = p_run_id
     and c.step = p_step and c.ordinal = p_ordinal and c.status = 'pending'
     and c.begun_at is null;
  if not found then
    return lockgate.step_answer(v_run, 'repeated');
  end if;
  return lockgate.step_answer(v_run, 'saved');
end;
$$;
