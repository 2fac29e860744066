create type lockgate.sweep_finding as (
  finding text, tenant_id text, session_id text, run_id uuid, attempt integer, drive_id uuid);

create function lockgate.sweep(
  p_worker_id text,
  p_limit integer default 100,
  p_dispatch_limit_ms integer default 30000,
  p_first_run_limit_ms integer default 300000,
  p_end_limit_ms integer default 10000,
  p_with_paused boolean default true
)
  returns setof lockgate.sweep_finding
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
-- Finds what nothing executes, and only finds: each finding is acted on by its own rule, in its
-- own transaction, which judges the whole condition again. A worker whose own heartbeat has not
-- been regular for one full lease finds only waits that are over, so that an outage is no mass
-- takeover. Of each kind p_limit are found, whichever: what cannot be mended must not hide the rest
-- for ever.
--
-- Findings  those of lockgate.is_stranded; first_run_overdue for a session that never had a run;
--           end_due for one whose end a store client has begun and left for p_end_limit_ms;
--           batch_complete for a suspended run that waits for nothing any more. Those are asked for
--           by p_with_paused: every paused session is looked at, and our own rules leave none so
declare
  v_now timestamptz := lockgate.now();
  v_is_regular boolean := exists (
    select from lockgate_store.workers w
     where w.worker_id = p_worker_id
       and w.heartbeat_at + w.lease_ms * interval '1 millisecond' > v_now
       and w.regular_since + w.lease_ms * interval '1 millisecond' < v_now);
begin
  return query
    select f.finding::text, r.tenant_id, r.session_id, r.run_id, r.attempt, r.drive_id
      from lockgate_store.runs r,
           lateral lockgate.is_stranded(r, lockgate.drive_workflow(r.drive_id), v_now) f(finding)
     where r.status = 'running'
       and (r.owner_id is not null or r.dispatch_at < v_now)
       and (v_is_regular or f.finding = 'wait_over')
       and f.finding is not null
       and (f.finding <> 'unserved'
         or r.dispatch_at + p_dispatch_limit_ms * interval '1 millisecond' < v_now)
     order by random()
     limit p_limit;
  if not v_is_regular then
    return;
  end if;
  return query
    select 'first_run_overdue', s.tenant_id, s.session_id, null::uuid, null::integer, null::uuid
      from lockgate_store.sessions s
     where s.first_run_due
       and s.created_at + p_first_run_limit_ms * interval '1 millisecond' < v_now
     order by random()
     limit p_limit;
  return query
    select 'end_due', s.tenant_id, s.session_id, s.current_run_id, null::integer, null::uuid
      from lockgate_store.sessions s
     where s.end_due
       and s.updated_at + p_end_limit_ms * interval '1 millisecond' < v_now
     order by random()
     limit p_limit;
  if not p_with_paused then
    return;
  end if;
  return query
    select 'batch_complete', r.tenant_id, r.session_id, r.run_id, r.attempt, r.drive_id
      from lockgate_store.runs r
      join lockgate_store.sessions s
        on s.tenant_id = r.tenant_id and s.session_id = r.session_id
       and s.current_run_id = r.run_id and s.terminal_run_id is distinct from r.run_id
     where r.status in ('suspended_client_tool', 'suspended_awaiting_children')
       and not exists (  -- asked of all sessions at once, for it rules out nearly all of them
         select from lockgate_store.tool_calls c
          where c.tenant_id = r.tenant_id and c.session_id = r.session_id
            and c.run_id = r.run_id and c.status = 'pending' and c.kind <> 'subagent')
       and lockgate.is_complete_batch(r)
     order by random()
     limit p_limit;
end;
$$;
