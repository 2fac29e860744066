create type lockgate.submit_outcome as enum (
  'invalid_request', 'unknown_tool_call', 'not_pending_yet', 'already_completed', 'run_ended',
  'kind_mismatch', 'accepted');

create function lockgate.judge_submit(
  p_call lockgate_store.tool_calls,
  p_run lockgate_store.runs,
  p_submit lockgate.submit
)
  returns lockgate.submit_outcome
  language plpgsql stable
as $$
-- Decides a submit from its call and the call's run, or from the session's current run where there
-- is no such call; the first that applies. A call is answerable from the commit on that announced
-- it, which is the one that suspended its run, and until a terminal commit of that run. An approval
-- takes its own response, or an error.
begin
  return case
    when p_call.tool_call_id is null then
      case when p_run.status = 'running' then 'not_pending_yet' else 'unknown_tool_call' end
    when lockgate.is_forgotten(p_call, p_run) then 'unknown_tool_call'
    when p_call.status in ('answered', 'consumed') or p_call.approved is not null
      then 'already_completed'
    when p_call.status = 'abandoned' or exists (
      select from lockgate_store.sessions s
       where s.tenant_id = p_run.tenant_id and s.session_id = p_run.session_id
         and s.terminal_run_id = p_run.run_id) then 'run_ended'
    when p_run.status = 'running' then 'not_pending_yet'
    when p_call.kind = 'client' and p_submit.kind <> 'client-tool-result'
      or p_call.kind = 'approval' and not coalesce(
        case p_submit.kind when 'approval-response' then p_submit.approval_id = p_call.approval_id
          else p_submit.response -> 'success' = 'false' end, false) then 'kind_mismatch'
    else 'accepted'
  end::lockgate.submit_outcome;
end;
$$;
