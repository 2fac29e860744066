create function lockgate.spend_attempt(
  p_run lockgate_store.runs,
  p_finding text,
  p_failure jsonb,
  p_max_attempts integer
)
  returns boolean
  language plpgsql volatile
as $$
-- Counts an attempt that was lost, and says whether that was the last of the run's crash-loop
-- budget: the run has ended then. The budget counts claimed attempts without progress and claims
-- that failed, and neither a drain nor a dispatch: null says that nothing was counted.
declare
  v_count integer;
  v_failure jsonb;
begin
  if p_finding = 'drained' or p_run.owner_id is null and p_failure is null then
    return null;
  end if;
  insert into lockgate_store.recoveries as c (
      tenant_id, session_id, run_id, attempts, deaths, last_failure, next_at)
    values (p_run.tenant_id, p_run.session_id, p_run.run_id, 1,
      (p_finding = 'owner_dead')::integer, p_failure, lockgate.now())
    on conflict (tenant_id, session_id, run_id) do update
       set attempts = c.attempts + 1,
           deaths = c.deaths + excluded.deaths,
           last_failure = coalesce(p_failure, c.last_failure)
    returning c.attempts, c.last_failure into v_count, v_failure;
  if v_count < p_max_attempts then
    return false;
  end if;
  perform lockgate.end_run(p_run, 'failed', p_error_detail => jsonb_strip_nulls(
    jsonb_build_object(
      'message', format('The run made no progress in %s attempts', v_count),
      'code', 'framework_auto_resume_exhausted', 'category', 'framework', 'retryable', true,
      'cause', v_failure)));
  return true;
end;
$$;
