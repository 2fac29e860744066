create function lockgate.register_consumer(p_consumer text)
  returns void
  language plpgsql volatile
as $$
-- Registers a consumer once, and makes all that was settled before it due to it. It waits for the
-- commits under way that cannot see it yet; all later ones do.
begin
  if exists (select from lockgate_store.consumers c where c.consumer = p_consumer) then
    return;
  end if;
  perform pg_advisory_xact_lock(lockgate.consumers_lock());
  insert into lockgate_store.consumers (consumer, registered_at)
    values (p_consumer, lockgate.now())
    on conflict do nothing;
  insert into lockgate_store.deliveries (
      tenant_id, session_id, run_id, status, consumer, settled_at)
    select s.tenant_id, s.session_id, s.run_id, s.status, p_consumer, s.settled_at
      from lockgate_store.settlements s
    on conflict do nothing;
end;
$$;
