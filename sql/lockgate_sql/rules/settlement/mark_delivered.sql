create type lockgate.mark_delivered_outcome as enum ('not_found', 'unchanged', 'marked');
create type lockgate.mark_delivered_result as (outcome lockgate.mark_delivered_outcome);

create function lockgate.mark_delivered(
  p_delivery_id text,
  p_consumer text,
  p_error text default null
)
  returns lockgate.mark_delivered_result
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
-- Marks a settlement as delivered to a consumer, also when its hook threw: then p_error is kept.
-- p_delivery_id is `run_id:status`, as claim_settlements gave it.
--
-- Locks     deliveries row
-- Writes    deliveries
-- Outcomes  first that applies:
--   not_found  nothing of that id was ever due to this consumer; nothing written
--   unchanged  it is marked already; nothing written
--   marked     it will not be offered again
declare
  v_run_id text := split_part(p_delivery_id, ':', 1);
  v_delivery lockgate_store.deliveries;
begin
  select d.* into v_delivery
    from lockgate_store.runs r
    join lockgate_store.deliveries d
      on d.tenant_id = r.tenant_id and d.session_id = r.session_id and d.run_id = r.run_id
   where r.run_id = case
       when v_run_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then v_run_id::uuid end
     and d.run_id || ':' || d.status = p_delivery_id and d.consumer = p_consumer
     for no key update of d;
  if not found then
    return row('not_found')::lockgate.mark_delivered_result;
  end if;
  if v_delivery.delivered_at is not null then
    return row('unchanged')::lockgate.mark_delivered_result;
  end if;
  update lockgate_store.deliveries d
     set delivered_at = lockgate.now(), last_error = p_error
   where d.tenant_id = v_delivery.tenant_id and d.session_id = v_delivery.session_id
     and d.run_id = v_delivery.run_id and d.status = v_delivery.status
     and d.consumer = p_consumer;
  return row('marked')::lockgate.mark_delivered_result;
end;
$$;
