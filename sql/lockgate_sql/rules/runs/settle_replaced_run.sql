create function lockgate.settle_replaced_run(
  p_run lockgate_store.runs,
  p_next lockgate_store.runs,
  p_scene lockgate.entry_scene,
  p_is_continued boolean,
  p_message_count integer
)
  returns integer
  language plpgsql volatile
as $$
-- Closes what a replaced run leaves behind, in the commit that starts the next one: its open calls
-- are paired and its duty is recorded. A suspended run that is continued has settled before, and
-- once is enough; what was approved goes over to the run that goes on. Returns the session's
-- message count.
begin
  if not p_is_continued then
    perform lockgate.record_settlement(p_run, p_scene.current_ends);
  end if;
  if p_run.attempt > 1 then  -- Only a later attempt has spent any of its budget.
    delete from lockgate_store.recoveries c
     where c.tenant_id = p_run.tenant_id and c.session_id = p_run.session_id
       and c.run_id = p_run.run_id;
  end if;
  if not p_scene.has_open_calls
     or p_is_continued and p_next.drive = 'continue'
       and lockgate.take_over_calls(p_run, p_next)
  then
    return p_message_count;
  end if;
  return lockgate.pair_calls(p_run, p_message_count);
end;
$$;
