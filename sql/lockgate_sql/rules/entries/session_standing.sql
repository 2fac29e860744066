create function lockgate.session_standing(
  p_session lockgate_store.sessions,
  p_scene lockgate.entry_scene
)
  returns text
  language plpgsql stable
as $$
-- Says where a session stands, in the words of lockgate.drive_admissions. A terminal commit that
-- landed counts, whatever its run's own status says by now.
declare
  v_current lockgate_store.runs := p_scene.current;
begin
  return case
    when v_current.run_id is null then 'never_run'
    when p_scene.executes then 'executing'
    when p_session.terminal_run_id = v_current.run_id then p_session.terminal_status
    when v_current.status = 'running' then 'stranded'
    when not lockgate.is_live(v_current.status) then v_current.status
    when p_scene.has_open_calls and lockgate.awaited_calls(v_current) <> '{}' then 'awaiting_calls'
    when p_scene.has_open_calls and lockgate.awaited_children(v_current) <> '[]'
      then 'awaiting_children'
    else 'paused'
  end;
end;
$$;
