create function lockgate.stream_end(p_run_status text)
  returns text
  language sql immutable
as $$
-- How the stream of a run of this status stands, or null where the run is running.
select case
    when p_run_status = 'running' then null
    when p_run_status = 'failed' then 'failed'
    when lockgate.is_live(p_run_status) then 'paused'
    else 'ended' end
$$;
