create function lockgate.list_history(
  p_tenant_id text,
  p_session_id text,
  p_limit integer,
  p_after integer default 0
)
  returns jsonb
  language sql stable
as $$
-- The first p_limit messages of a session in their order, or those of them after p_after, as one
-- JSON list.
select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
         'seq', m.seq, 'role', m.role, 'runId', m.run_id, 'step', m.step,
         'clientId', m.client_id)) || jsonb_build_object('content', m.content)
         order by m.seq), '[]')
  from lockgate_store.messages m
 where m.tenant_id = p_tenant_id and m.session_id = p_session_id and m.seq <= p_limit
   and m.seq > p_after
$$;
