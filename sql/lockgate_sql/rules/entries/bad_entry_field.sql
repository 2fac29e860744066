create function lockgate.bad_entry_field(
  p_entry lockgate.entry,
  p_input jsonb,
  p_known_fields text[]
)
  returns text
  language plpgsql immutable
as $$
-- Names the first part of an entry that is not of the form, or null. It names the field and
-- never repeats the value. Policies are the rows of lockgate.entry_policies.
declare
  v_field text := lockgate.bad_identity_field(
    p_tenant_id => p_entry.tenant_id, p_session_id => p_entry.session_id,
    p_agent_type => p_entry.agent_type, p_user_id => p_entry.user_id,
    p_metadata => p_entry.metadata, p_parent_session_id => p_entry.parent_session_id,
    p_root_session_id => p_entry.root_session_id);
begin
  return case
    when lockgate.bad_request_key(p_entry.request_key) then 'requestKey'
    when v_field is not null then v_field
    when p_input is null or jsonb_typeof(p_input) <> 'object'
      or p_input - p_known_fields <> '{}' then 'input'
    when p_entry.messages is null then 'input.message'
    when jsonb_typeof(p_entry.state) <> 'object' then 'input.state'
    when p_entry.concurrent_entry is null
      or p_entry.concurrent_entry not in ('reject', 'interrupt_previous') then 'concurrentEntry'
    when p_entry.expect is not null and not coalesce(
      p_entry.expect ?& '{currentRunId,currentRunStatus,sessionStatus}', false) then 'expect'
  end;
end;
$$;
