create type lockgate.create_session_outcome as enum (
  'invalid_request', 'session_not_found', 'agent_type_mismatch', 'identity_mismatch',
  'existing', 'created');
create type lockgate.create_session_result as (
  outcome lockgate.create_session_outcome, session_id text, session_status text, detail jsonb);

create function lockgate.create_session(
  p_session_id text,
  p_agent_type text,
  p_state jsonb default null,
  p_user_id text default null,
  p_tags text[] default null,
  p_metadata jsonb default null,
  p_parent_session_id text default null,
  p_root_session_id text default null,
  p_acting_user_id text default null,
  p_tenant_id text default ''
)
  returns lockgate.create_session_result
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
-- Makes a session without a run. The same values again answer `existing` and write nothing.
--
-- Locks     session row
-- Writes    sessions
-- Outcomes  first that applies:
--   invalid_request      detail names the field; nothing written
--   session_not_found    the id is another user's session; nothing written
--   agent_type_mismatch  the session has another agent type; nothing written
--   identity_mismatch    detail names the field; nothing written
--   existing             that session; nothing written
--   created              the new session
-- Raises    LG001; LG003 when the row comes and goes under our eyes for ever
declare
  v_entry lockgate.entry;
  v_session lockgate_store.sessions;
begin
  v_entry.tenant_id := p_tenant_id;
  v_entry.session_id := p_session_id;
  v_entry.agent_type := p_agent_type;
  v_entry.acting_user_id := p_acting_user_id;
  v_entry.user_id := p_user_id;
  v_entry.tags := p_tags;
  v_entry.metadata := p_metadata;
  v_entry.parent_session_id := p_parent_session_id;
  v_entry.root_session_id := p_root_session_id;
  v_entry.state := p_state;
  v_entry.bad_field := coalesce(
    lockgate.bad_address_field(p_tenant_id, p_session_id, p_agent_type),
    lockgate.bad_identity_field(
      p_user_id => p_user_id, p_acting_user_id => p_acting_user_id, p_tags => p_tags,
      p_metadata => p_metadata,
      p_parent_session_id => p_parent_session_id, p_root_session_id => p_root_session_id),
    case when jsonb_typeof(p_state) <> 'object' then 'state' end);
  if v_entry.bad_field is not null then
    return ('invalid_request', p_session_id, null,
      jsonb_build_object('field', v_entry.bad_field))::lockgate.create_session_result;
  end if;
  perform lockgate.require_read_committed();
  for v_try in 1..5 loop
    v_session := lockgate.insert_session(v_entry, p_first_run_due => true);
    if v_session.session_id is not null then
      return ('created', p_session_id, v_session.status, null)::lockgate.create_session_result;
    end if;
    v_session := lockgate.lock_session(p_session_id => p_session_id, p_tenant_id => p_tenant_id);
    if v_session.session_id is not null then
      return lockgate.answer_existing_session(v_entry, v_session);
    end if;
  end loop;
  raise sqlstate 'LG003' using message = 'the session is created and deleted without end';
end;
$$;
