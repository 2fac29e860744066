create type lockgate.end_remote_child_outcome as enum (
  'invalid_request', 'fenced', 'child_not_found', 'unchanged', 'written');
create type lockgate.end_remote_child_result as (
  outcome lockgate.end_remote_child_outcome, status text, run_id uuid);

create function lockgate.end_remote_child(
  p_session_id text,
  p_child_session_id text,
  p_status text,
  p_output jsonb default null,
  p_error_detail jsonb default null,
  p_run_id uuid default null,
  p_attempt integer default null,
  p_acting_user_id text default null,
  p_tenant_id text default ''
)
  returns lockgate.end_remote_child_result
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
-- Records how a child on another host ended, for whoever has learnt it there: the answer of the
-- call that waits for it, and with the last answer the start of its parent's next run, in one
-- commit. The first end counts, until lockgate.record_child_running opens a companion again.
-- Who has learnt it for an attempt names the parent's run and that attempt; nobody else does.
--
-- Locks     the parent's session row; with the last answer all that lockgate.enter names
-- Writes    see lockgate.write_child_end
-- Outcomes  first that applies:
--   invalid_request  the status is not completed, failed or interrupted; nothing written
--   fenced           the attempt that is named is over; nothing written
--   child_not_found  no such remote child, or another user's session; nothing written
--   unchanged        it has ended, status says how; nothing written
--   written          run_id is the parent's run that goes on, null where none starts
-- Raises    LG001
declare
  v_session lockgate_store.sessions;
  v_child lockgate_store.children;
begin
  if p_status is null or p_status not in ('completed', 'failed', 'interrupted') then
    return row('invalid_request', null, null)::lockgate.end_remote_child_result;
  end if;
  v_session := lockgate.lock_session(
    p_session_id => p_session_id, p_acting_user_id => p_acting_user_id,
    p_tenant_id => p_tenant_id);
  if p_run_id is not null and not exists (
    select from lockgate_store.runs r
     where r.run_id = p_run_id
       and r.tenant_id = v_session.tenant_id and r.session_id = v_session.session_id
       and r.status = 'running' and r.attempt = p_attempt)
  then
    return row('fenced', null, null)::lockgate.end_remote_child_result;
  end if;
  select c.* into v_child
    from lockgate_store.children c
   where c.tenant_id = v_session.tenant_id and c.session_id = v_session.session_id
     and c.child_session_id = p_child_session_id and c.location = 'remote';
  if not found then
    return row('child_not_found', null, null)::lockgate.end_remote_child_result;
  end if;
  if v_child.ended_at is not null then
    return ('unchanged', v_child.status, null)::lockgate.end_remote_child_result;
  end if;
  return ('written', p_status, lockgate.write_child_end(
    v_child, v_session, p_status, p_output, p_error_detail))::lockgate.end_remote_child_result;
end;
$$;
