create function lockgate.set_run_suspended(
  p_run lockgate_store.runs,
  p_status text,
  p_state jsonb default null
)
  returns void
  language plpgsql volatile
as $$
-- Writes a suspension on run, stream and session, with its settlement. The attempt is over, and
-- with it the run's crash-loop budget. p_state is the session's whole state, if it has changed. The
-- session and the run are locked.
begin
  perform lockgate.set_run_live(p_run, p_status, null);
  update lockgate_store.streams s
     set status = 'paused', attempt = s.attempt + 1,
         final = jsonb_build_object('status', p_status)
   where s.tenant_id = p_run.tenant_id and s.session_id = p_run.session_id
     and s.run_id = p_run.run_id;
  update lockgate_store.sessions s
     set status = 'paused',
         state = coalesce(p_state, s.state),
         state_is_new = s.state_is_new or p_state is not null,
         version = s.version + 1,
         updated_at = lockgate.now()
   where s.tenant_id = p_run.tenant_id and s.session_id = p_run.session_id;
  perform lockgate.record_settlement(p_run, p_status);
  delete from lockgate_store.recoveries c
   where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
     and c.run_id = p_run.run_id;
end;
$$;
