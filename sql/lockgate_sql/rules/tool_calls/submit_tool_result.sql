create type lockgate.submit_result as (
  outcome lockgate.submit_outcome,
  session_id text,
  tool_call_id text,
  tool_name text,
  call_run_id uuid,
  run_id uuid,
  start_sequence bigint,
  approved boolean,
  detail jsonb
);

create function lockgate.submit_tool_result(
  p_session_id text,
  p_tool_call_id text,
  p_answer jsonb,
  p_acting_user_id text default null,
  p_tenant_id text default ''
)
  returns lockgate.submit_result
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp set lock_timeout = '30s'
as $$
-- Stores the answer to a pending call, once, and with the last answer of a batch starts the run
-- that goes on, in the same commit. p_session_id is the session of the call or its root; p_answer
-- is as lockgate.read_submit takes it. No output schema is checked here: the run that goes on does.
--
-- Locks     the session row of the call, its run row, tool-call row; with the last answer all that
--           lockgate.enter names
-- Writes    tool_calls; with the last answer see lockgate.begin_run
-- Outcomes  first that applies:
--   invalid_request    detail names the field; nothing written
--   unknown_tool_call  no such call, one that is forgotten, or another user's; nothing written
--   not_pending_yet    no such call is announced, but a run executes; nothing written
--   already_completed  the first answer stands, approved is what it decided; nothing written
--   run_ended          the call was abandoned: call_run_id is its run; nothing written
--   kind_mismatch      the call takes another kind of answer; nothing written
--   accepted           stored; run_id is the run that goes on, null while others are awaited
-- Raises    LG001
declare
  v_submit lockgate.submit := lockgate.read_submit(p_answer);
  v_call lockgate_store.tool_calls;
  v_run lockgate_store.runs;
  v_outcome lockgate.submit_outcome;
  v_continuation uuid;
begin
  if v_submit.bad_field is not null or p_tool_call_id is null then
    return lockgate.submit_answer('invalid_request', p_session_id, v_call, null,
      coalesce(v_submit.bad_field, 'toolCallId'));
  end if;
  v_call := lockgate.lock_call(p_tenant_id, p_session_id, p_tool_call_id, p_acting_user_id);
  v_run := lockgate.run_of_submit(p_tenant_id, p_session_id, v_call, p_acting_user_id);
  v_outcome := lockgate.judge_submit(v_call, v_run, v_submit);
  if v_outcome = 'accepted' then
    update lockgate_store.tool_calls c
       set status = 'answered', response = v_submit.response, approved = v_submit.approved,
           submitted_at = lockgate.now()
     where c.tenant_id = v_call.tenant_id and c.session_id = v_call.session_id
       and c.run_id = v_call.run_id and c.step = v_call.step and c.ordinal = v_call.ordinal
    returning c.* into v_call;
    v_continuation := lockgate.continue_run(v_run);
  end if;
  return lockgate.submit_answer(v_outcome, p_session_id, v_call, v_continuation, null);
end;
$$;
