create function lockgate.deleted_detail()
  returns jsonb
  language sql immutable
as $$
-- The error detail under which a parent knows a child that was deleted.
select jsonb_build_object('message', 'The session was deleted', 'code', 'framework_subagent_lost',
  'category', 'framework', 'retryable', false)
$$;
