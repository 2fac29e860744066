create function lockgate.begin_attempt(
  p_run lockgate_store.runs,
  p_finding text,
  p_waits boolean
)
  returns lockgate.requeue_run_result
  language plpgsql volatile
as $$
-- Fences the present attempt of a run and enqueues the next, at once, or where p_waits after 1 s
-- doubling to 60 s for each attempt without progress. The wait begins with the attempt's last sign
-- of life, so a lease that ran out counts; a lease of under a second is the first wait's measure
-- too. The session and the run are locked.
declare
  v_now timestamptz := lockgate.now();
  v_next_at timestamptz;
  v_deaths integer;
  v_run lockgate_store.runs;
begin
  update lockgate_store.recoveries c
     set next_at = case when p_waits then greatest(v_now, e.since
           + least(60000, e.first_wait_ms * 2 ^ least(c.attempts - 1, 16))
           * interval '1 millisecond') else v_now end
    from lockgate.last_sign_of_life(p_run, p_finding, v_now) e
   where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
     and c.run_id = p_run.run_id
  returning c.next_at, c.deaths into v_next_at, v_deaths;
  v_next_at := coalesce(v_next_at, v_now);
  update lockgate_store.runs r
     set owner_id = null,
         claimed_at = null,
         is_recovery = r.is_recovery or r.claimed_at is not null,
         attempt = r.attempt + 1,
         drive_id = gen_random_uuid(),
         dispatch_at = v_next_at
   where r.tenant_id = p_run.tenant_id and r.session_id = p_run.session_id
     and r.run_id = p_run.run_id
  returning r.* into v_run;
  update lockgate_store.streams s
     set attempt = v_run.attempt
   where s.tenant_id = p_run.tenant_id and s.session_id = p_run.session_id
     and s.run_id = p_run.run_id;
  perform lockgate.enqueue_drive(
    p_tenant_id => v_run.tenant_id, p_session_id => v_run.session_id,
    p_run_id => v_run.run_id, p_drive_id => v_run.drive_id,
    p_not_before => nullif(v_next_at, v_now), p_deaths => coalesce(v_deaths, 0),
    p_is_next => true);
  return row('requeued', 'running', v_run.attempt, v_next_at)::lockgate.requeue_run_result;
end;
$$;
