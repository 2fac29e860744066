create type lockgate.finding as enum (
  'raised', 'drained', 'closed_owner', 'owner_dead', 'never_claimed', 'unserved',
  'wait_over');

create function lockgate.is_stranded(
  p_run lockgate_store.runs,
  p_workflow lockgate.drive_workflow_result,
  p_now timestamptz
)
  returns lockgate.finding
  language plpgsql stable
as $$
-- Says why nothing executes a running run, or null. It looks at ownership, never at age.
--
--   closed_owner   its workflow has ended, or is missing, without the run's end
--   owner_dead     heartbeat and claim of its worker are both older than the lease
--   never_claimed  dispatched longer than a lease ago to a worker that has died since, or than
--                  three to one that lives and does not know: its dequeue's answer was lost
--   unserved       waiting, and no living worker serves its drive version
--   wait_over      its workflow waits although the time of the attempt has come: only we end a wait
declare
  v_lease interval := coalesce((
    select w.lease_ms from lockgate_store.workers w
     where w.worker_id = coalesce(p_run.owner_id, p_workflow.executor_id)), 5000)
    * interval '1 millisecond';
begin
  return case
    when p_run.status <> 'running' then null
    when p_workflow.status is null or p_workflow.status in (
      'SUCCESS', 'ERROR', 'CANCELLED', 'MAX_RECOVERY_ATTEMPTS_EXCEEDED') then 'closed_owner'
    when p_run.owner_id is not null then
      case when not lockgate.worker_is_alive(p_run.owner_id, p_now)
        and p_run.claimed_at + v_lease < p_now then 'owner_dead' end
    when p_workflow.status = 'PENDING' then
      case when coalesce(p_workflow.dispatched_at, p_run.dispatch_at) + v_lease * case
        when lockgate.worker_is_alive(p_workflow.executor_id, p_now) then 3 else 1 end < p_now
        then 'never_claimed' end
    when not lockgate.drive_is_served(p_workflow.drive_version, p_now) then 'unserved'
    when p_workflow.status = 'DELAYED' and p_run.dispatch_at <= p_now then 'wait_over'
  end::lockgate.finding;
end;
$$;
