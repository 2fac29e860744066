create function lockgate.bad_filter_field(
  p_tenant_id text,
  p_agent_type text,
  p_statuses text[],
  p_parent_session_id text,
  p_roots_only boolean,
  p_created_from timestamptz,
  p_created_to timestamptz
)
  returns text
  language sql immutable
as $$
-- Names the first filter of a list of sessions that no session could be of the form of, or null;
-- what a session's identity has for its form is told by lockgate.bad_identity_field.
select case
  when p_tenant_id is null or char_length(p_tenant_id) > 128 then 'tenantId'
  when char_length(p_agent_type) not between 1 and 128 then 'agentType'
  when cardinality(p_statuses) not between 1 and 5
    or not p_statuses <@ array['active', 'paused', 'completed', 'failed', 'interrupted']
    then 'status'
  when p_roots_only is null or p_roots_only and p_parent_session_id is not null then 'rootsOnly'
  when p_created_from > p_created_to then 'dateRange'
end
$$;
