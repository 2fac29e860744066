create function lockgate.end_stopped_run(p_run lockgate_store.runs, p_partial jsonb default null)
  returns text
  language plpgsql volatile
as $$
-- Ends a run as its recorded stop says, and returns the status: an interrupt ends it
-- interrupted, to go on from; an abort ends it failed, its output cleared.
begin
  if p_run.stop_kind = 'abort' then
    perform lockgate.end_run(p_run, 'failed',
      p_error_detail => lockgate.cancelled_detail(p_run.stop_reason), p_partial => p_partial);
    return 'failed';
  end if;
  perform lockgate.end_run(p_run, 'interrupted', p_partial => p_partial);
  return 'interrupted';
end;
$$;
