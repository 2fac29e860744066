create function lockgate.make_chunk(
  p_run lockgate_store.runs,
  p_type text,
  p_fields jsonb,
  p_step integer default null
)
  returns jsonb
  language plpgsql volatile
as $$
-- Builds a chunk that a rule itself puts on the stream, of the shape that a drive's chunks have.
declare
  v_agent_type text := (
    select s.agent_type from lockgate_store.sessions s
     where s.tenant_id = p_run.tenant_id and s.session_id = p_run.session_id);
begin
  return jsonb_build_object(
    'type', p_type,
    'agentId', p_run.session_id,
    'agentType', v_agent_type,
    'timestamp', (extract(epoch from lockgate.now()) * 1000)::bigint,
    'step', coalesce(p_step, p_run.step_count)) || p_fields;
end;
$$;
