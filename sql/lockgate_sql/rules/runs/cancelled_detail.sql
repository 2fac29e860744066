create function lockgate.cancelled_detail(p_reason text)
  returns jsonb
  language sql immutable
as $$
-- The error detail of an aborted run.
select jsonb_build_object('message', coalesce(p_reason, 'The run was cancelled'),
  'code', 'framework_cancelled', 'category', 'framework', 'retryable', false)
$$;
