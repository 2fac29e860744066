create type lockgate.heartbeat_result as (heartbeat_at timestamptz, was_late boolean);

create function lockgate.heartbeat(
  p_worker_id text,
  p_lease_ms integer default 5000,
  p_draining boolean default false,
  p_takeovers bigint default 0,
  p_recoveries bigint default 0,
  p_exhausted bigint default 0,
  p_fenced_writes bigint default 0,
  p_swept_ago_ms bigint default null
)
  returns lockgate.heartbeat_result
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
-- Renews a worker's promise to be there for another lease. A beat that comes late starts the
-- worker's regular time anew: for one full lease it judges nobody. The totals of its boot come
-- along, so that they cost no commit of their own; they never go down. p_swept_ago_ms is how long
-- ago its last sweep ended, null before the first; one that was not to judge yet counts for none.
-- A first beat forgets boots of long ago; one of those that beats again is new, and judges nobody.
--
-- Locks     workers row; for a first beat see lockgate.forget_workers
-- Writes    workers, forgotten_workers
-- Raises    LG002 for a worker's id of none or over 256 characters, no lease, or a total or a time
--           of less than nothing, or of more than a boot can come to
declare
  v_now timestamptz := lockgate.now();
  v_before lockgate_store.workers;
  v_was_late boolean;
  v_swept_at timestamptz;
begin
  perform lockgate.require(
    char_length(p_worker_id) between 1 and 256 and p_lease_ms > 0
      and p_draining is not null
      and least(p_takeovers, p_recoveries, p_exhausted, p_fenced_writes, p_swept_ago_ms) >= 0
      and greatest(p_takeovers, p_recoveries, p_exhausted, p_fenced_writes, p_swept_ago_ms)
        < 1000000000000,
    'a worker has an id of 1 to 256 characters, a lease of at least a millisecond, and totals',
    jsonb_build_object('leaseMs', p_lease_ms));
  select w.* into v_before
    from lockgate_store.workers w
   where w.worker_id = p_worker_id
     for no key update;
  v_was_late := v_before.heartbeat_at + v_before.lease_ms * interval '1 millisecond' < v_now;
  if v_before.regular_since + v_before.lease_ms * interval '1 millisecond' < v_now
     and not v_was_late
  then
    v_swept_at := v_now - p_swept_ago_ms * interval '1 millisecond';
  end if;
  insert into lockgate_store.workers as w (
      worker_id, drive_version, lease_ms, heartbeat_at, regular_since, draining, started_at,
      takeovers, recoveries, exhausted, fenced_writes, swept_at)
    values (
      p_worker_id, lockgate.drive_version(), p_lease_ms, v_now, v_now, p_draining, v_now,
      p_takeovers, p_recoveries, p_exhausted, p_fenced_writes, v_swept_at)
    on conflict (worker_id) do update
       set lease_ms = p_lease_ms,
           heartbeat_at = v_now,
           regular_since = case when v_was_late then v_now else w.regular_since end,
           draining = p_draining,
           takeovers = greatest(w.takeovers, p_takeovers),
           recoveries = greatest(w.recoveries, p_recoveries),
           exhausted = greatest(w.exhausted, p_exhausted),
           fenced_writes = greatest(w.fenced_writes, p_fenced_writes),
           swept_at = coalesce(v_swept_at, w.swept_at);
  if v_before.worker_id is null then
    perform lockgate.forget_workers(v_now);
  end if;
  return (v_now, coalesce(v_was_late, false))::lockgate.heartbeat_result;
end;
$$;
