create function lockgate.pause_run(
  p_run lockgate_store.runs,
  p_step integer,
  p_state jsonb,
  p_chunks jsonb[]
)
  returns text
  language plpgsql volatile
as $$
-- Writes a suspension: the run's status, which it returns, its session's and its stream's, the
-- announcement of what is awaited, and the settlement. The session and the run are locked.
--
-- Raises    LG002 for another step than the open one, with a server call unanswered, or with a
--           sub-agent's call that has no child: nobody would ever answer it
declare
  v_waits_for text[] := lockgate.awaited_calls(p_run);
  v_status text := case when v_waits_for = '{}' then 'suspended_awaiting_children'
    else 'suspended_client_tool' end;
begin
  perform lockgate.require(
    p_step = p_run.step_count + 1
      and exists (
        select from lockgate_store.tool_calls c
         where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
           and c.run_id = p_run.run_id and c.step = p_step and c.kind <> 'server')
      and not exists (
        select from lockgate_store.tool_calls c
         where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
           and c.run_id = p_run.run_id and c.status = 'pending'
           and (c.kind = 'server' or c.approved or c.kind = 'subagent' and not exists (
             select from lockgate_store.children k
              where k.tenant_id = c.tenant_id and k.session_id = c.session_id
                and c.tool_call_id = any (k.tool_call_id || k.waiting_call_ids)))),
    'a run suspends in its open step, when all that is ours to run or to start has been',
    jsonb_build_object('runId', p_run.run_id, 'step', p_step, 'stepCount', p_run.step_count));
  perform lockgate.write_chunks(
    p_run,
    p_chunks || lockgate.awaited_chunks(p_run, p_step) || lockgate.make_chunk(
      p_run, 'run_paused', jsonb_build_object(
        'runId', p_run.run_id, 'status', v_status, 'toolCallIds', to_jsonb(v_waits_for),
        'children', lockgate.awaited_children(p_run)), p_step),
    p_commits => true);
  perform lockgate.set_run_live(p_run, v_status, null);
  update lockgate_store.streams s
     set status = 'paused', attempt = s.attempt + 1,
         final = jsonb_build_object('status', v_status)
   where s.tenant_id = p_run.tenant_id and s.session_id = p_run.session_id
     and s.run_id = p_run.run_id;
  update lockgate_store.sessions s
     set status = 'paused',
         state = coalesce(p_state, s.state),
         state_is_new = s.state_is_new or p_state is not null,
         version = s.version + 1,
         updated_at = lockgate.now()
   where s.tenant_id = p_run.tenant_id and s.session_id = p_run.session_id;
  perform lockgate.record_settlement(p_run, v_status);
  delete from lockgate_store.recoveries c
   where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
     and c.run_id = p_run.run_id;
  return v_status;
end;
$$;
