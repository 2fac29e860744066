create function lockgate.commit_reply(
  p_session_id text,
  p_run_id uuid,
  p_attempt integer,
  p_step integer,
  p_content jsonb,
  p_calls jsonb default '[]',
  p_chunks jsonb[] default '{}',
  p_usage jsonb default null,
  p_tenant_id text default ''
)
  returns lockgate.step_result
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
-- Saves what the model said in a step, before any of its tools runs, together with the last of its
-- chunks and the announcement of its calls. A reply without calls commits the step.
--
-- p_calls are as lockgate.register_calls takes them, p_usage as lockgate.record_usage.
--
-- Locks     session row, run row, stream row, tool-call rows
-- Writes    messages, tool_calls, sessions, streams, usage; without calls also runs and checkpoints
-- Outcomes  first that applies:
--   fenced    the attempt is over; nothing written
--   repeated  this step's reply is saved; nothing written
--   saved     the answer's calls carry the announced ids
-- Raises    LG001; LG002 for a step out of order, or a call or usage that is not of the form
declare
  v_run lockgate_store.runs := lockgate.lock_attempt(
    p_session_id => p_session_id, p_run_id => p_run_id, p_attempt => p_attempt,
    p_tenant_id => p_tenant_id);
  v_count integer;
begin
  if v_run.run_id is null then
    return row('fenced', null, null, null)::lockgate.step_result;
  end if;
  if v_run.step_count >= p_step or exists (
    select from lockgate_store.tool_calls c
     where c.tenant_id = p_tenant_id and c.session_id = p_session_id
       and c.run_id = p_run_id and c.step = p_step)
  then
    return lockgate.step_answer(v_run, 'repeated');
  end if;
  perform lockgate.require(
    p_step = v_run.step_count + 1 and jsonb_typeof(p_content) = 'array'
      and not jsonb_path_exists(
        p_calls, '$[*] ? (!exists(@.input) || @.toolName.type() != "string"
          || exists(@.kind) && (@.kind.type() != "string" || !exists(@.kind ? (
            @ == "server" || @ == "client" || @ == "approval" || @ == "subagent")))
          || exists(@.retentionMs) && (@.retentionMs.type() != "number" || !exists(@.retentionMs ? (
            @ >= 0 && @ <= 9223372036854775807 && @ == @.floor()))))'),
    'a reply is that of the next step, and its calls have tool names, inputs and known kinds',
    jsonb_build_object('runId', p_run_id, 'step', p_step, 'stepCount', v_run.step_count));
  perform lockgate.register_calls(v_run, p_step, p_calls);
  perform lockgate.record_usage(v_run, p_step, p_usage);
  select lockgate.append_message(v_run, 'assistant',
           p_content || lockgate.call_parts(v_run, p_step), s.message_count, p_step)
    into v_count
    from lockgate_store.sessions s
   where s.tenant_id = p_tenant_id and s.session_id = p_session_id;
  if p_calls = '[]' then
    perform lockgate.write_chunks(v_run, p_chunks);
    perform lockgate.close_step(v_run, p_step, v_count);
  else
    update lockgate_store.sessions s
       set message_count = v_count, version = s.version + 1, updated_at = lockgate.now()
     where s.tenant_id = p_tenant_id and s.session_id = p_session_id;
    perform lockgate.write_chunks(
      v_run, p_chunks || lockgate.call_chunks(v_run, p_step), p_commits => true);
  end if;
  return lockgate.step_answer(v_run, 'saved');
end;
$$;
