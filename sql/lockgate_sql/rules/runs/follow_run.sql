create function lockgate.follow_run(
  p_session lockgate_store.sessions,
  p_run lockgate_store.runs,
  p_status text
)
  returns void
  language plpgsql volatile
as $$
-- Brings session, stream and settlements after a run whose status a store client has just written.
-- p_run is the run as it was before. A run that runs again has its stream again; the end of a
-- stream is the client's to write (lockgate.close_stream), or a sweep's, if it never does. Where a
-- child's current run has ended,
-- its parent is told.
declare
  v_message_count integer := p_session.message_count;
  v_run lockgate_store.runs;
begin
  if not lockgate.is_live(p_status) then
    v_message_count := lockgate.pair_calls(p_run, v_message_count);
    delete from lockgate_store.recoveries c
     where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
       and c.run_id = p_run.run_id;
  end if;
  if p_status = 'running' then
    update lockgate_store.streams s
       set status = 'active', final = null
     where s.tenant_id = p_run.tenant_id and s.session_id = p_run.session_id
       and s.run_id = p_run.run_id and s.status <> 'active';
  else
    update lockgate_store.streams s
       set attempt = s.attempt + 1
     where s.tenant_id = p_run.tenant_id and s.session_id = p_run.session_id
       and s.run_id = p_run.run_id;
    perform lockgate.record_settlement(p_run, p_status);
  end if;
  update lockgate_store.sessions s
     set status = case
           when p_run.run_id is distinct from s.current_run_id
             or p_run.run_id = s.terminal_run_id or p_status = 'superseded' then s.status
           when p_status = 'running' then 'active'
           when lockgate.is_live(p_status) then 'paused'
           else p_status end,
         end_due = p_status <> 'running',
         message_count = v_message_count,
         version = s.version + 1,
         updated_at = lockgate.now()
   where s.tenant_id = p_run.tenant_id and s.session_id = p_run.session_id;
  if not lockgate.is_live(p_status) and p_run.run_id = p_session.current_run_id then
    select r.* into v_run
      from lockgate_store.runs r
     where r.run_id = p_run.run_id;
    perform lockgate.tell_parent(p_session, p_status, v_run.output, v_run.error_detail);
  end if;
end;
$$;
