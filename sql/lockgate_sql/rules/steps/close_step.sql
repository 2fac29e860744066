create function lockgate.close_step(
  p_run lockgate_store.runs,
  p_step integer,
  p_message_count integer,
  p_state jsonb default null,
  p_chunks jsonb[] default '{}'
)
  returns void
  language plpgsql volatile
as $$
-- Commits a step: its number on the run, the history and the state on the session, a checkpoint,
-- and the chunk that tells readers, after p_chunks. It is progress, so the crash-loop budget begins
-- anew.
declare
  v_now timestamptz := lockgate.now();
begin
  update lockgate_store.runs r
     set step_count = p_step
   where r.tenant_id = p_run.tenant_id and r.session_id = p_run.session_id
     and r.run_id = p_run.run_id;
  insert into lockgate_store.checkpoints (
      tenant_id, session_id, turn, step, run_id, message_count, state, created_at)
    select p_run.tenant_id, p_run.session_id, p_run.turn, p_step, p_run.run_id, p_message_count,
           coalesce(p_state, case when s.state_is_new then s.state end), v_now
      from lockgate_store.sessions s
     where s.tenant_id = p_run.tenant_id and s.session_id = p_run.session_id;
  update lockgate_store.sessions s
     set message_count = p_message_count,
         state = coalesce(p_state, s.state),
         state_is_new = false,
         version = s.version + 1,
         updated_at = v_now
   where s.tenant_id = p_run.tenant_id and s.session_id = p_run.session_id;
  perform lockgate.write_chunks(p_run, p_chunks || lockgate.make_chunk(
    p_run, 'step_committed', jsonb_build_object(
      'step', p_step, 'messageCount', p_message_count), p_step), p_commits => true);
  delete from lockgate_store.recoveries c
   where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
     and c.run_id = p_run.run_id;
end;
$$;
