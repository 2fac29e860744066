create function lockgate.bad_identity_field(
  p_tenant_id text,
  p_session_id text,
  p_agent_type text,
  p_user_id text,
  p_metadata jsonb,
  p_parent_session_id text,
  p_root_session_id text
)
  returns text
  language sql immutable
as $$
-- Names the first field that is not of the form, or null. Indexed text has its cap here.
select case
    when p_session_id is null or char_length(p_session_id) not between 1 and 256 then 'sessionId'
    when p_tenant_id is null or char_length(p_tenant_id) > 128 then 'tenantId'
    when p_agent_type is null or char_length(p_agent_type) not between 1 and 128 then 'agentType'
    when char_length(p_user_id) not between 1 and 256 then 'userId'
    when char_length(p_parent_session_id) not between 1 and 256 then 'parentSessionId'
    when char_length(p_root_session_id) not between 1 and 256 then 'rootSessionId'
    when p_metadata is null then null
    when jsonb_typeof(p_metadata) <> 'object'
      or jsonb_path_exists(p_metadata, 'strict $.* ? (@.type() != "string")') then 'metadata'
  end
$$;
