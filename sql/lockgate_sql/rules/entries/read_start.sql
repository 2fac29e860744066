create function lockgate.read_start(
  p_session_id text,
  p_agent_type text,
  p_input jsonb,
  p_request_key text,
  p_user_id text,
  p_tags text[],
  p_metadata jsonb,
  p_parent_session_id text,
  p_root_session_id text,
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
-- Reads a start: checked, normalised and digested, or with the first field that is not of the form.
declare
  v_messages jsonb := lockgate.read_message(p_input -> 'message');
  v_state jsonb := nullif(p_input -> 'state', 'null');
  v_bad_field text := lockgate.bad_start_field(
    p_tenant_id, p_session_id, p_agent_type, p_request_key, p_input, v_messages, v_state);
  v_digest text;
begin
  if v_bad_field is null and not (p_user_id is null and p_acting_user_id is null
    and p_tags is null and p_metadata is null
    and p_parent_session_id is null and p_root_session_id is null and p_expect is null
    and p_concurrent_entry is not distinct from 'reject')
  then
    v_bad_field := coalesce(
      lockgate.bad_identity_field(
        p_user_id => p_user_id, p_acting_user_id => p_acting_user_id, p_tags => p_tags,
        p_metadata => p_metadata,
        p_parent_session_id => p_parent_session_id, p_root_session_id => p_root_session_id),
      lockgate.bad_plan_field(p_concurrent_entry, p_expect));
  end if;
  if v_bad_field is null then
    v_digest := lockgate.request_digest(
      p_kind => 'execute', p_agent_type => p_agent_type, p_message => p_input -> 'message',
      p_state => v_state);
  end if;
  return ('start', p_tenant_id, p_session_id, p_agent_type, p_acting_user_id, p_user_id, p_tags,
    p_metadata, p_parent_session_id, p_root_session_id, v_messages, v_state, 'active', null,
    p_request_key, v_digest, p_run_id, p_run_id is not null, null, p_concurrent_entry, p_expect,
    p_dispatch_limit_ms, v_bad_field)::lockgate.entry;
end;
$$;
