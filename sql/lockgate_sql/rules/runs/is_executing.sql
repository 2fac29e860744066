create function lockgate.is_executing(
  p_run lockgate_store.runs,
  p_dispatch_limit_ms integer,
  p_terminal_run_id uuid default null
)
  returns boolean
  language plpgsql stable
as $$
-- Says whether a run executes now. Claimed: its worker's heartbeat is fresh. Unclaimed: some
-- living worker serves its drive version, whatever its age; where none lives, its workflow has
-- been waiting for less than the dispatch limit. A run whose terminal commit landed is over.
declare
  v_now timestamptz := lockgate.now();
begin
  if p_run.status is distinct from 'running' or p_run.run_id = p_terminal_run_id then
    return false;
  end if;
  if p_run.owner_id is not null then
    return lockgate.worker_is_alive(p_run.owner_id, v_now);
  end if;
  return exists (
    select from lockgate_store.workers w
     where w.drive_version = lockgate.drive_version() and not w.draining
       and w.heartbeat_at + w.lease_ms * interval '1 millisecond' > v_now)
    or p_run.dispatch_at + coalesce(p_dispatch_limit_ms, 30000) * interval '1 millisecond' > v_now;
end;
$$;
