create function lockgate.bad_run_start_field(
  p_entry lockgate.entry,
  p_message jsonb,
  p_keep_messages integer,
  p_finish_current jsonb
)
  returns text
  language plpgsql immutable
as $$
-- Names the first part of a store client's run start that is not of the form, or null. A history is
-- cut back only by a drive that goes back, and p_finish_current is {runId, status}.
begin
  return case
    when lockgate.bad_request_key(p_entry.request_key) then 'requestKey'
    when (p_entry.request_key is null) <> (p_entry.request_digest is null)
      or char_length(p_entry.request_digest) not between 1 and 128 then 'requestDigest'
    when p_entry.session_id is null or char_length(p_entry.session_id) not between 1 and 256
      then 'sessionId'
    when p_entry.tenant_id is null or char_length(p_entry.tenant_id) > 128 then 'tenantId'
    when p_entry.run_id is null then 'runId'
    when p_entry.drive is null
      or p_entry.drive not in ('start', 'resume', 'retry', 'continue') then 'drive'
    when p_entry.session_status is null
      or p_entry.session_status not in ('active', 'paused') then 'sessionStatus'
    when not coalesce(
      jsonb_typeof(p_entry.expect) = 'object'
      and p_entry.expect ?& '{currentRunId,currentRunStatus,sessionStatus}', false) then 'expect'
    when p_message is not null and p_entry.messages is null then 'messages'
    when jsonb_typeof(p_entry.state) <> 'object' then 'state'
    when p_keep_messages < 0
      or p_keep_messages is not null and p_entry.drive not in ('resume', 'retry')
      then 'keepMessages'
    when p_finish_current is not null and not coalesce(
      jsonb_typeof(p_finish_current) = 'object'
      and p_finish_current ?& '{runId,status}'
      and p_finish_current - '{runId,status}'::text[] = '{}'
      and p_finish_current ->> 'status' in ('completed', 'failed', 'interrupted'), false)
      then 'finishCurrent'
  end;
end;
$$;
