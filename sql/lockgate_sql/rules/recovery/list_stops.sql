create type lockgate.standing_stop as (run_id uuid, stop_kind text);

create function lockgate.list_stops(p_worker_id text)
  returns setof lockgate.standing_stop
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
-- The runs of a worker on which a stop stands: one question for all its drives, so that a model
-- call that says nothing is stopped too.
select r.run_id, r.stop_kind
  from lockgate_store.runs r
 where r.status = 'running' and r.owner_id = p_worker_id and r.stop_kind is not null
$$;
