create function lockgate.bad_start_field(
  p_tenant_id text,
  p_session_id text,
  p_agent_type text,
  p_request_key text,
  p_input jsonb,
  p_messages jsonb,
  p_state jsonb
)
  returns text
  language plpgsql immutable
as $$
-- Names the first part of a start that is not of the form, or null; it never repeats the value.
-- p_messages and p_state are what was read from p_input.
begin
  return case
    when lockgate.bad_request_key(p_request_key) then 'requestKey'
    when p_session_id is null or char_length(p_session_id) not between 1 and 256 then 'sessionId'
    when p_tenant_id is null or char_length(p_tenant_id) > 128 then 'tenantId'
    when p_agent_type is null or char_length(p_agent_type) not between 1 and 128 then 'agentType'
    when p_input is null or jsonb_typeof(p_input) <> 'object'
      or p_input - '{message,state}'::text[] <> '{}' then 'input'
    when p_messages is null then 'input.message'
    when jsonb_typeof(p_state) <> 'object' then 'input.state'
  end;
end;
$$;
