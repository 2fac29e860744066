create type lockgate.close_stream_outcome as enum (
  'invalid_request', 'not_found', 'fenced', 'unchanged', 'refused', 'closed');
create type lockgate.close_stream_result as (
  outcome lockgate.close_stream_outcome, stream_status text, head_sequence bigint);

create function lockgate.close_stream(
  p_session_id text,
  p_status text,
  p_expect_run_id text,
  p_output jsonb default null,
  p_error_detail jsonb default null,
  p_acting_user_id text default null,
  p_tenant_id text default ''
)
  returns lockgate.close_stream_result
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
-- Ends, fails or pauses a session's stream for a store client, as the last part of a run's end or
-- suspension. The fence is the run that the client expects the stream to be of; one that cannot be
-- read applies nothing. p_status is ended, failed or paused, and must be what the run's own status
-- says: a failed run's stream is failed, and a stream that reads paused proves a suspension. A
-- paused one may still end.
--
-- Locks     session row, run row, stream row
-- Writes    streams, sessions; the fence of runs
-- Outcomes  first that applies:
--   invalid_request  the status or the fence is not of the form; nothing written
--   not_found        no such stream, or another user's session; nothing written
--   fenced           the stream is another run's; nothing written
--   unchanged        it is closed so; nothing written
--   refused          the run has not settled so, or the stream has ended; nothing written
--   closed           head_sequence is the last chunk's
-- Raises    LG001
declare
  v_session lockgate_store.sessions;
  v_stream lockgate_store.streams;
  v_run lockgate_store.runs;
  v_head bigint;
begin
  if p_status is null or p_status not in ('ended', 'failed', 'paused')
     or p_expect_run_id is null
     or p_expect_run_id !~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    return row('invalid_request', null, null)::lockgate.close_stream_result;
  end if;
  v_session := lockgate.lock_session(
    p_session_id => p_session_id, p_acting_user_id => p_acting_user_id,
    p_tenant_id => p_tenant_id);
  select st.* into v_stream
    from lockgate_store.streams st
   where st.tenant_id = v_session.tenant_id and st.session_id = v_session.session_id;
  if not found then
    return row('not_found', null, null)::lockgate.close_stream_result;
  end if;
  select r.* into v_run
    from lockgate_store.runs r
   where r.run_id = v_stream.run_id
     for no key update;
  if v_stream.run_id <> p_expect_run_id::uuid then
    return ('fenced', v_stream.status, v_stream.head_sequence)::lockgate.close_stream_result;
  end if;
  if v_stream.status in (p_status, 'ended', 'failed')
     or lockgate.stream_end(v_run.status) is distinct from p_status then
    return (case when v_stream.status = p_status then 'unchanged' else 'refused' end,
      v_stream.status, v_stream.head_sequence)::lockgate.close_stream_result;
  end if;
  v_head := lockgate.end_stream(v_run, v_run.status, coalesce(p_output, v_run.output),
    coalesce(p_error_detail, v_run.error_detail));
  update lockgate_store.runs r  -- The stream's fence has moved, and theirs is one.
     set attempt = r.attempt + 1
   where r.run_id = v_run.run_id;
  if v_session.end_due then
    perform lockgate.clear_end_due(v_run);
  end if;
  return ('closed', p_status, v_head)::lockgate.close_stream_result;
end;
$$;
