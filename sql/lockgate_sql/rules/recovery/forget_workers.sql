create function lockgate.forget_workers(p_now timestamptz)
  returns void
  language sql volatile
as $$
-- Deletes the rows of boots that were silent for a day past their lease and own no run, a thousand
-- at most, and keeps the sum of what they had told. Each new boot calls it, so that there are
-- never many more rows than boots in a day; what another such call or a heartbeat holds is left.
with silent as (
  select w.worker_id
    from lockgate_store.workers w
   where w.heartbeat_at + w.lease_ms * interval '1 millisecond' + interval '1 day' < p_now
     and not exists (
       select from lockgate_store.runs r
        where r.status = 'running' and r.owner_id = w.worker_id)
   limit 1000
     for no key update of w skip locked
), forgotten as (
  delete from lockgate_store.workers w
   using silent s
   where w.worker_id = s.worker_id
  returning w.*
)
insert into lockgate_store.forgotten_workers as f (
    takeovers, recoveries, exhausted, fenced_writes, swept_at)
  select sum(g.takeovers), sum(g.recoveries), sum(g.exhausted), sum(g.fenced_writes),
         max(g.swept_at)
    from forgotten g
  having count(*) > 0
  on conflict (is_the_one) do update
     set takeovers = f.takeovers + excluded.takeovers,
         recoveries = f.recoveries + excluded.recoveries,
         exhausted = f.exhausted + excluded.exhausted,
         fenced_writes = f.fenced_writes + excluded.fenced_writes,
         swept_at = greatest(f.swept_at, excluded.swept_at)
$$;
