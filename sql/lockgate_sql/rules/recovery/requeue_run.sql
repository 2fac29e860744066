create type lockgate.requeue_run_outcome as enum (
  'stale', 'ended', 'suspended', 'released', 'exhausted', 'requeued');
create type lockgate.requeue_run_result as (
  outcome lockgate.requeue_run_outcome, run_status text, attempt integer, next_at timestamptz);

create function lockgate.requeue_run(
  p_session_id text,
  p_run_id uuid,
  p_drive_id uuid,
  p_finding text,
  p_worker_id text,
  p_failure jsonb default null,
  p_max_attempts integer default 5,
  p_auto_resume boolean default true,
  p_lock_timeout_ms integer default null,
  p_tenant_id text default ''
)
  returns lockgate.requeue_run_result
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
-- Hands a run that nothing executes to a new attempt: the old holder is fenced at once, and the
-- new workflow is enqueued last. A drive that raised calls it for itself, a draining worker for
-- what it owns, a sweep for what it found; each finding is judged again under the lock. Where
-- p_auto_resume is false, what a sweep finds lost after its claim is paused, to wait for a resume.
-- A lock that somebody holds for p_lock_timeout_ms is left to them (55P03): a sweep comes back.
--
-- Locks     session row, run row, stream row; DBOS's row last
-- Writes    runs, streams, recoveries; or see lockgate.end_run, lockgate.suspend_run
-- Outcomes  first that applies:
--   stale      the finding no longer holds; nothing written
--   ended      its terminal commit had landed, a stop stands, or the workflow was cancelled;
--              run_status is how
--   suspended  its suspension had landed, or it is not to go on by itself; run_status is how
--   released   its wait is over, and it is the attempt that waited; next_at is when that was due
--   exhausted  the budget is spent: it ended failed
--   requeued   attempt is the new one, next_at from when on it is dispatched
-- Raises    LG001
declare
  v_session lockgate_store.sessions := lockgate.lock_session(
    p_session_id => p_session_id,
    p_lock_timeout_ms => p_lock_timeout_ms, p_tenant_id => p_tenant_id);
  v_run lockgate_store.runs;
  v_workflow lockgate.drive_workflow_result;
  v_found lockgate.finding;
  v_status text;
  v_is_spent boolean;
begin
  select r.* into v_run
    from lockgate_store.runs r
   where r.run_id = p_run_id
     and r.tenant_id = v_session.tenant_id and r.session_id = v_session.session_id
     and r.status = 'running' and r.drive_id = p_drive_id
     for no key update;
  v_workflow := lockgate.drive_workflow(p_drive_id);
  v_found := case
    when p_finding = 'raised' then 'raised'
    when p_finding = 'drained' then case
      when v_run.owner_id is not distinct from p_worker_id then 'drained'::lockgate.finding end
    else lockgate.is_stranded(v_run, v_workflow, lockgate.now())
  end;
  if v_run.run_id is null or v_found is null then
    return row('stale', null, null, null)::lockgate.requeue_run_result;
  end if;
  v_status := lockgate.settle_lost_run(v_session, v_run, v_workflow.status);
  if v_status is null and not p_auto_resume and p_finding not in ('raised', 'drained')
     and v_run.claimed_at is not null
  then
    v_status := lockgate.demote_run(v_run);
  end if;
  if v_status is not null then
    return (case when lockgate.is_live(v_status) then 'suspended' else 'ended' end,
      v_status, null, null)::lockgate.requeue_run_result;
  end if;
  if v_found = 'wait_over' then
    perform lockgate.release_drive(p_drive_id);
    return ('released', 'running', v_run.attempt, v_run.dispatch_at)::lockgate.requeue_run_result;
  end if;
  v_is_spent := lockgate.spend_attempt(v_run, p_finding, p_failure, p_max_attempts);
  if v_is_spent then
    return row('exhausted', 'failed', null, null)::lockgate.requeue_run_result;
  end if;
  return lockgate.begin_attempt(v_run, p_finding, p_waits => v_is_spent is not null);
end;
$$;
