create function lockgate.list_runs(
  p_session_id text,
  p_limit integer default 50,
  p_offset integer default 0,
  p_acting_user_id text default null,
  p_tenant_id text default ''
)
  returns lockgate.list_result
  language plpgsql stable security definer
  set search_path = pg_catalog, pg_temp set timezone = 'UTC'
as $$
-- Reads a page of a session's runs, the newest turn first, in one consistent look. An item has
-- the fields of lockgate.get_run as {runId, sessionId, turn, …}, null where there is none.
--
-- Outcomes  first that applies:
--   invalid_request    detail names the field: limit is 1 to 200, offset not below 0
--   session_not_found  no such session, or another user's
--   page               total is the number of all its runs
declare
  v_field text := lockgate.bad_page_field(p_limit, p_offset);
  v_total integer;
  v_items jsonb;
begin
  if v_field is not null then
    return lockgate.empty_list('invalid_request', v_field);
  end if;
  select s.turn_count into v_total
    from lockgate_store.sessions s
   where s.tenant_id = p_tenant_id and s.session_id = p_session_id
     and (p_acting_user_id is null or s.user_id = p_acting_user_id);
  if not found then
    return lockgate.empty_list('session_not_found');
  end if;
  select jsonb_agg(jsonb_build_object(
           'runId', p.run_id, 'sessionId', p.session_id, 'turn', p.turn, 'drive', p.drive,
           'status', p.status, 'requestKey', p.request_key, 'requestDigest', p.request_digest,
           'attempt', p.attempt, 'startSequence', p.start_sequence,
           'endSequence', p.end_sequence, 'stepCount', p.step_count, 'output', p.output,
           'errorDetail', p.error_detail, 'startedAt', p.started_at,
           'completedAt', p.completed_at) order by p.turn desc)
    into v_items
    from (
      select r.*
        from lockgate_store.runs r
       where r.tenant_id = p_tenant_id and r.session_id = p_session_id
       order by r.turn desc
       limit p_limit offset p_offset) p;
  return ('page', coalesce(v_items, '[]'), v_total, p_offset::bigint + p_limit < v_total,
    null)::lockgate.list_result;
end;
$$;
