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
-- that failed, and neither a drain nor a dispatch: null says that nothing was counted. What died
-- twice is begun alone: where it lived on after that for half of its time alone, it has died in
-- another's turn, and that death is charged to the other. Twice as many deaths end it all the same.
declare
  v_is_death boolean := p_finding = 'owner_dead';
  v_is_anothers boolean := v_is_death and p_run.claimed_at + interval '5 seconds'
    < (lockgate.last_sign_of_life(p_run, p_finding, lockgate.now())).since;
  v_spent lockgate_store.recoveries;
begin
  if p_finding = 'drained' or p_run.owner_id is null and p_failure is null then
    return null;
  end if;
  insert into lockgate_store.recoveries as c (
      tenant_id, session_id, run_id, attempts, deaths, last_failure, next_at)
    values (p_run.tenant_id, p_run.session_id, p_run.run_id, 1,
      v_is_death::integer, p_failure, lockgate.now())
    on conflict (tenant_id, session_id, run_id) do update
       set attempts = c.attempts + case when v_is_anothers and c.deaths >= 2 then 0 else 1 end,
           deaths = c.deaths + excluded.deaths,
           last_failure = coalesce(p_failure, c.last_failure)
    returning c.* into v_spent;
  if v_spent.attempts < p_max_attempts and v_spent.deaths < 2 * p_max_attempts then
    return false;
  end if;
  perform lockgate.end_run(p_run, 'failed', p_error_detail => jsonb_strip_nulls(
    jsonb_build_object(
      'message', format('The run made no progress in %s attempts',
        greatest(v_spent.attempts, v_spent.deaths)),
      'code', 'framework_auto_resume_exhausted', 'category', 'framework', 'retryable', true,
      'cause', v_spent.last_failure)));
  return true;
end;
$$;
