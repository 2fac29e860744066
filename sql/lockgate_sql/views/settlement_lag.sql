create view lockgate.settlement_lag as
-- Which consumers are told of what settles, and how far is each behind?
select c.consumer, c.registered_at,
       count(d.consumer) as undelivered,
       min(d.settled_at) as oldest_settled_at,
       clock_timestamp() - min(d.settled_at) as lag
  from lockgate_store.consumers c
  left join lockgate_store.deliveries d
    on d.consumer = c.consumer and d.delivered_at is null
 group by c.consumer, c.registered_at;
