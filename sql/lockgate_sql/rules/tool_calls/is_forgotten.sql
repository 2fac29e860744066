create function lockgate.is_forgotten(
  p_call lockgate_store.tool_calls,
  p_run lockgate_store.runs
)
  returns boolean
  language sql stable
as $$
-- Says whether a tombstone's time is over. It never is before the run that goes on has committed a
-- step or is over itself, so that a repeat of the last answer still finds what it gave.
select p_call.status = 'consumed'
   and coalesce(extract(epoch from lockgate.now() - p_call.consumed_at) * 1000
     >= p_call.retention_ms, false)
   and not exists (
     select from lockgate_store.runs n
      where n.tenant_id = p_run.tenant_id and n.session_id = p_run.session_id
        and n.turn = p_run.turn + 1 and n.drive in ('continue', 'resume')
        and n.step_count = 0 and lockgate.is_live(n.status))
$$;
