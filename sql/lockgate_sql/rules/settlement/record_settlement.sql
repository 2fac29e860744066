create function lockgate.record_settlement(p_run lockgate_store.runs, p_status text)
  returns void
  language plpgsql volatile
as $$
-- Writes the duty that a run's settled status brings, and what is due to each consumer; once,
-- however often a store client comes back to that status. The
-- shared advisory lock lets a consumer that registers wait for the commits that cannot see it.
declare
  v_now timestamptz := lockgate.now();
begin
  if not pg_try_advisory_xact_lock_shared(lockgate.consumers_lock()) then
    perform pg_advisory_xact_lock_shared(lockgate.consumers_lock());
  end if;
  with duty as (
    insert into lockgate_store.settlements (tenant_id, session_id, run_id, status, settled_at)
      values (p_run.tenant_id, p_run.session_id, p_run.run_id, p_status, v_now)
      on conflict do nothing
  )
  insert into lockgate_store.deliveries (
      tenant_id, session_id, run_id, status, consumer, settled_at)
    select p_run.tenant_id, p_run.session_id, p_run.run_id, p_status, c.consumer, v_now
      from lockgate_store.consumers c
    on conflict do nothing;
end;
$$;
