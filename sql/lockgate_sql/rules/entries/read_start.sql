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
  v_entry lockgate.entry;
begin
  v_entry.drive := 'start';
  v_entry.tenant_id := p_tenant_id;
  v_entry.session_id := p_session_id;
  v_entry.agent_type := p_agent_type;
  v_entry.acting_user_id := p_acting_user_id;
  v_entry.user_id := p_user_id;
  v_entry.tags := p_tags;
  v_entry.metadata := p_metadata;
  v_entry.parent_session_id := p_parent_session_id;
  v_entry.root_session_id := p_root_session_id;
  v_entry.messages := lockgate.read_message(p_input -> 'message');
  v_entry.state := nullif(p_input -> 'state', 'null');
  v_entry.request_key := p_request_key;
  v_entry.run_id := p_run_id;
  v_entry.concurrent_entry := p_concurrent_entry;
  v_entry.expect := p_expect;
  v_entry.dispatch_limit_ms := p_dispatch_limit_ms;
  v_entry.bad_field := lockgate.bad_entry_field(v_entry, p_input, '{message,state}');
  if v_entry.bad_field is null then
    v_entry.request_digest := lockgate.request_digest(
      p_kind => 'execute', p_agent_type => p_agent_type,
      p_messages => v_entry.messages, p_state => v_entry.state);
  end if;
  return v_entry;
end;
$$;
