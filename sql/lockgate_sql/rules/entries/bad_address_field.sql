create function lockgate.bad_address_field(
  p_tenant_id text,
  p_session_id text,
  p_agent_type text
)
  returns text
  language plpgsql immutable
as $$
-- Names the first part of a session's address that is not of the form, or null. Indexed text has
-- its cap here.
begin
  return case
    when p_session_id is null or char_length(p_session_id) not between 1 and 256 then 'sessionId'
    when p_tenant_id is null or char_length(p_tenant_id) > 128 then 'tenantId'
    when p_agent_type is null or char_length(p_agent_type) not between 1 and 128 then 'agentType'
  end;
end;
$$;
