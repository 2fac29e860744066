create type lockgate.moved_stream as (tenant_id text, session_id text, head_sequence bigint);

create function lockgate.moved_streams(
  p_tenant_ids text[],
  p_session_ids text[],
  p_heads bigint[]
)
  returns setof lockgate.moved_stream
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
-- Of many watched streams, those that have more than their watcher has seen, or have closed: one
-- question for all streams that a process has open. It tells numbers only; what a reader may see
-- is decided when it reads. A stream that vanished is named with head 0.
select w.tenant_id, w.session_id, coalesce(s.head_sequence, 0)
  from unnest(p_tenant_ids, p_session_ids, p_heads) w(tenant_id, session_id, head)
  left join lockgate_store.streams s
    on s.tenant_id = w.tenant_id and s.session_id = w.session_id
 where s.session_id is null or s.head_sequence > w.head or s.status <> 'active'
$$;
