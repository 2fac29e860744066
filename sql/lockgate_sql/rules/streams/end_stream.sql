create function lockgate.end_stream(
  p_run lockgate_store.runs,
  p_status text,
  p_output jsonb default null,
  p_error_detail jsonb default null
)
  returns bigint
  language plpgsql volatile
as $$
-- Ends or fails the stream of a run that ends, with the run's last chunk, and fences whatever its
-- drive still sends; returns the head. A failed run's stream is failed, never ended. An end is
-- never refused: an output over 1 MiB is left out of it and stands on the run.
declare
  v_output jsonb := case when pg_column_size(p_output) <= 1048576 then p_output end;
  v_chunk jsonb := case
    when p_status = 'failed' then lockgate.make_chunk(p_run, 'error', jsonb_build_object(
      'error', p_error_detail ->> 'message', 'errorDetail', p_error_detail))
    when p_status = 'interrupted' then lockgate.make_chunk(p_run, 'run_interrupted',
      jsonb_strip_nulls(jsonb_build_object('runId', p_run.run_id, 'reason', p_run.stop_reason)))
  end;
  v_head bigint := lockgate.write_chunks(
    p_run, array_remove(array[v_chunk], null), p_commits => true);
begin
  update lockgate_store.streams s
     set status = lockgate.stream_end(p_status),
         attempt = s.attempt + 1,
         final = jsonb_strip_nulls(jsonb_build_object(
           'status', p_status, 'error', p_error_detail ->> 'message',
           'errorDetail', p_error_detail))
           || case when v_output is null then '{}' else jsonb_build_object('output', v_output) end
   where s.tenant_id = p_run.tenant_id and s.session_id = p_run.session_id
     and s.run_id = p_run.run_id;
  return v_head;
end;
$$;
