create function lockgate.child_response(p_status text, p_output jsonb, p_error_detail jsonb)
  returns jsonb
  language sql immutable
as $$
-- The answer that the end of a child's run is to a call that waits for it.
select case when p_status = 'completed'
  then jsonb_build_object('success', true, 'result', p_output)
  else jsonb_build_object('success', false, 'error', coalesce(
    p_error_detail ->> 'message', 'The sub-agent ended ' || p_status)) end
$$;
