create function lockgate.not_executed(p_kind text, p_is_begun boolean default false)
  returns jsonb
  language sql immutable
as $$
-- The result of a call that nobody answered and whose run is over: a client's was abandoned, a
-- server's was stopped. Of a body that was begun nobody knows what it did.
select case when p_is_begun
  then jsonb_build_object(
    'success', false, 'reason', 'outcome_unknown',
    'error', 'Interrupted: the tool had begun, and whether it did its work is unknown')
  else jsonb_build_object(
    'success', false, 'error', 'Not executed: ' || r.reason, 'reason', r.reason) end
  from (select case when p_kind = 'server' then 'run_stopped'
          else 'client_tool_abandoned' end as reason) r
$$;
