create type lockgate.record_usage_entries_outcome as enum (
  'invalid_request', 'session_not_found', 'recorded');
create type lockgate.record_usage_entries_result as (
  outcome lockgate.record_usage_entries_outcome, recorded integer, detail jsonb);

create function lockgate.record_usage_entries(
  p_session_id text,
  p_entries jsonb,
  p_acting_user_id text default null,
  p_tenant_id text default ''
)
  returns lockgate.record_usage_entries_result
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
-- Adds what an application counts itself to a session's usage, all of it or nothing. p_entries is a
-- list of {kind, source, id?, runId?, stepCount?, …}; without a runId it is the current run's. One
-- whose id the session has is passed over, so a repeat adds nothing.
--
-- Locks     session row
-- Writes    usage
-- Outcomes  first that applies:
--   invalid_request    detail names the field: no list of 1 to 1,000 entries of the form, one that
--                      names another session, or a run that is not this session's; nothing written
--   session_not_found  no such session, or another user's; nothing written
--   recorded           recorded is how many were new
-- Raises    LG001
declare
  v_session lockgate_store.sessions := lockgate.lock_session(
    p_session_id => p_session_id, p_acting_user_id => p_acting_user_id,
    p_tenant_id => p_tenant_id);
  v_field text := 'entries';
  v_count integer;
begin
  if jsonb_typeof(p_entries) = 'array' and jsonb_array_length(p_entries) between 1 and 1000 then
    select f.field into v_field
      from jsonb_array_elements(p_entries) with ordinality e,
           lockgate.usage_flaw(e.value, p_session_id) f(field)
     where f.field is not null
     order by e.ordinality limit 1;
  end if;
  if v_field is null and v_session.session_id is null then
    return ('session_not_found', null, null)::lockgate.record_usage_entries_result;
  end if;
  if v_field is null and exists (
    select from jsonb_array_elements(p_entries) e
     where not exists (
       select from lockgate_store.runs r
        where r.run_id = coalesce((e.value ->> 'runId')::uuid, v_session.current_run_id)
          and r.tenant_id = p_tenant_id and r.session_id = p_session_id))
  then
    v_field := 'runId';
  end if;
  if v_field is not null then
    return ('invalid_request', null, jsonb_build_object('field', v_field))
      ::lockgate.record_usage_entries_result;
  end if;
  v_count := lockgate.insert_usage(v_session, p_entries);
  return ('recorded', v_count, null)::lockgate.record_usage_entries_result;
end;
$$;
