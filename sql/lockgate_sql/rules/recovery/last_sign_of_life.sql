create type lockgate.sign_of_life as (since timestamptz, first_wait_ms integer);

create function lockgate.last_sign_of_life(
  p_run lockgate_store.runs,
  p_finding text,
  p_now timestamptz
)
  returns lockgate.sign_of_life
  language plpgsql stable
as $$
-- Says when the attempt at a run was last known to live: now where its drive asks itself, or its
-- worker lives; and how long the first wait after it is.
declare
  v_worker lockgate_store.workers;
begin
  select w.* into v_worker
    from lockgate_store.workers w
   where w.worker_id = p_run.owner_id;
  return (
    case when p_finding = 'raised' or lockgate.worker_is_alive(p_run.owner_id, p_now) then p_now
      else coalesce(greatest(v_worker.heartbeat_at, p_run.claimed_at), p_now) end,
    least(1000, coalesce(v_worker.lease_ms, 1000)))::lockgate.sign_of_life;
end;
$$;
