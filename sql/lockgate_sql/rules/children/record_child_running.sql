create type lockgate.record_child_running_outcome as enum (
  'fenced', 'child_not_found', 'unchanged', 'written');
create type lockgate.record_child_running_result as (
  outcome lockgate.record_child_running_outcome, status text);

create function lockgate.record_child_running(
  p_session_id text,
  p_run_id uuid,
  p_attempt integer,
  p_child_session_id text,
  p_child_run_id uuid default null,
  p_tenant_id text default ''
)
  returns lockgate.record_child_running_result
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
-- Records with the parent that a companion runs again: it has taken a message with the run that is
-- named. Written after the delivery, so the run may have ended by now; then its end stands. Or it
-- has been suspended and continued, and the run that goes on is to end yet.
--
-- Locks     the parent's session row, then its run row; who ends the child's run waits for the
--           first, and writes last
-- Writes    children
-- Outcomes  first that applies:
--   fenced           the parent's attempt is over; nothing written
--   child_not_found  no such companion; nothing written
--   unchanged        a local child's run has ended since, or there is none; nothing written
--   written          status is `running`, and what the last run came to is forgotten
-- Raises    LG001
declare
  v_run lockgate_store.runs := lockgate.lock_attempt(
    p_session_id => p_session_id, p_run_id => p_run_id, p_attempt => p_attempt,
    p_tenant_id => p_tenant_id);
  v_child lockgate_store.children;
begin
  if v_run.run_id is null then
    return row('fenced', null)::lockgate.record_child_running_result;
  end if;
  select c.* into v_child
    from lockgate_store.children c
   where c.tenant_id = v_run.tenant_id and c.session_id = v_run.session_id
     and c.child_session_id = p_child_session_id and c.mode <> 'subagent';
  if not found then
    return row('child_not_found', null)::lockgate.record_child_running_result;
  end if;
  if v_child.location = 'local' and not exists (
    select from lockgate_store.runs r
      join lockgate_store.runs n
        on n.tenant_id = r.tenant_id and n.session_id = r.session_id and n.turn >= r.turn
     where r.run_id = p_child_run_id and r.tenant_id = p_tenant_id
       and r.session_id = p_child_session_id and lockgate.is_live(n.status))
  then
    return ('unchanged', v_child.status)::lockgate.record_child_running_result;
  end if;
  update lockgate_store.children c
     set status = 'running', output = null, error_detail = null, ended_at = null
   where c.tenant_id = p_tenant_id and c.session_id = p_session_id
     and c.child_session_id = p_child_session_id;
  return ('written', 'running')::lockgate.record_child_running_result;
end;
$$;
