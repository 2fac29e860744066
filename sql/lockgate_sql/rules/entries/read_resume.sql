create function lockgate.read_resume(
  p_session_id text,
  p_agent_type text,
  p_options jsonb,
  p_request_key text,
  p_concurrent_entry text,
  p_run_id uuid,
  p_expect jsonb,
  p_dispatch_limit_ms integer,
  p_acting_user_id text,
  p_tenant_id text
)
  returns lockgate.entry
  language plpgsql immutable
as $$
-- Reads a resume: checked, normalised and digested, or with the first field that is not of the
-- form.
declare
  v_message jsonb := case when jsonb_typeof(p_options) = 'object' then p_options -> 'message' end;
  v_messages jsonb := lockgate.read_message(v_message);
begin
  return lockgate.read_reentry(
    p_drive => 'resume', p_session_id => p_session_id, p_agent_type => p_agent_type,
    p_mode => p_options ->> 'mode', p_message => v_message, p_messages => v_messages,
    p_checkpoint_id => p_options ->> 'checkpointId',
    p_bad_field => lockgate.bad_resume_field(p_options, v_messages),
    p_request_key => p_request_key, p_concurrent_entry => p_concurrent_entry,
    p_run_id => p_run_id, p_expect => p_expect, p_dispatch_limit_ms => p_dispatch_limit_ms,
    p_acting_user_id => p_acting_user_id, p_tenant_id => p_tenant_id);
end;
$$;
