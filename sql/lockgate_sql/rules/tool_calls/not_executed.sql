create function lockgate.not_executed(p_kind text)
  returns jsonb
  language sql immutable
as $$
-- The result of a call that nobody answered and whose run is over: a client's was abandoned, a
-- server's was stopped.
select jsonb_build_object(
         'success', false, 'error', 'Not executed: ' || r.reason, 'reason', r.reason)
  from (select case when p_kind = 'server' then 'run_stopped'
          else 'client_tool_abandoned' end as reason) r
$$;
