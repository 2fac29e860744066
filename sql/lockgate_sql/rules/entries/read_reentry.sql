create function lockgate.read_reentry(
  p_drive text,
  p_session_id text,
  p_agent_type text,
  p_mode text,
  p_message jsonb,
  p_messages jsonb,
  p_checkpoint_id text,
  p_bad_field text,
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
-- Reads what resume and retry have in common: checked, and digested over what the caller meant, or
-- with the first field that is not of the form. p_messages is what was read from p_message.
declare
  v_bad_field text := coalesce(
    case when lockgate.bad_request_key(p_request_key) then 'requestKey' end,
    lockgate.bad_address_field(p_tenant_id, p_session_id, p_agent_type),
    p_bad_field,
    lockgate.bad_plan_field(p_concurrent_entry, p_expect));
  v_digest text;
begin
  if v_bad_field is null then
    v_digest := lockgate.request_digest(
      p_kind => p_drive, p_agent_type => p_agent_type, p_message => p_message,
      p_mode => p_mode, p_checkpoint_id => p_checkpoint_id);
  end if;
  return (p_drive, p_tenant_id, p_session_id, p_agent_type, p_acting_user_id, null, null,
    null, null, null, p_messages, null, 'active', p_checkpoint_id, p_request_key, v_digest,
    p_run_id, p_run_id is not null, null, p_concurrent_entry, p_expect, p_dispatch_limit_ms,
    v_bad_field)::lockgate.entry;
end;
$$;
