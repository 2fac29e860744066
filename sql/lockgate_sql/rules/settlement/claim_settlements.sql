create type lockgate.claimed_settlement as (
  delivery_id text,
  tenant_id text,
  session_id text,
  run_id uuid,
  status text,
  agent_type text,
  drive text,
  output jsonb,
  error_detail jsonb,
  user_id text,
  tags text[],
  metadata jsonb,
  tries integer,
  settled_at timestamptz
);

create function lockgate.claim_settlements(
  p_consumer text,
  p_limit integer default 32,
  p_lease_ms integer default 60000
)
  returns setof lockgate.claimed_settlement
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp set lock_timeout = '2s'
as $$
-- Leases what is due to a consumer, oldest first: every settlement without its mark, those from
-- before its first claim included. A lease that ran out is offered again. A consumer that calls
-- mark_delivered in the transaction of its own effect has that effect exactly once. The first call
-- of a name registers it; make that one by itself, since it holds up who settles until it commits.
--
-- Locks     deliveries rows, skipping what another claim holds
-- Writes    deliveries; the first claim of a name registers it as a consumer
-- Raises    LG001; LG002 for a consumer's name of none or over 128 characters, or no lease
declare
  v_now timestamptz;
begin
  perform lockgate.require_read_committed();
  perform lockgate.require(
    char_length(p_consumer) between 1 and 128 and p_lease_ms > 0,
    'a consumer has a name of 1 to 128 characters, and a lease of at least a millisecond',
    jsonb_build_object('leaseMs', p_lease_ms));
  perform lockgate.register_consumer(p_consumer);
  v_now := lockgate.now();
  return query
    with due as (
      select d.tenant_id, d.session_id, d.run_id, d.status
        from lockgate_store.deliveries d
       where d.consumer = p_consumer and d.delivered_at is null
         and (d.claimed_until is null or d.claimed_until < v_now)
       order by d.settled_at
       limit least(greatest(p_limit, 1), 1000)
         for no key update skip locked
    ), claimed as (
      update lockgate_store.deliveries d
         set claimed_until = v_now + p_lease_ms * interval '1 millisecond', tries = d.tries + 1
        from due
       where d.tenant_id = due.tenant_id and d.session_id = due.session_id
         and d.run_id = due.run_id and d.status = due.status and d.consumer = p_consumer
      returning d.*
    )
    select c.run_id || ':' || c.status, c.tenant_id, c.session_id, c.run_id, c.status,
           s.agent_type, r.drive,
           case when r.status = c.status then r.output end,
           case when r.status = c.status then r.error_detail end,
           s.user_id, s.tags, s.metadata, c.tries, c.settled_at
      from claimed c
      join lockgate_store.runs r on r.run_id = c.run_id
      join lockgate_store.sessions s on s.tenant_id = c.tenant_id and s.session_id = c.session_id
     order by c.settled_at;
end;
$$;
