create function lockgate.read_scene(
  p_entry lockgate.entry,
  p_session lockgate_store.sessions
)
  returns lockgate.entry_scene
  language plpgsql stable
as $$
-- Reads what decides an entry besides its session, in one statement. Nobody writes a run of a
-- session without the session's lock, so under it what is read here stands until the commit.
declare
  v_scene lockgate.entry_scene;
  v_rewind lockgate.rewind;
begin
  select c, h, t, coalesce(st.head_sequence, 0), exists (
           select from lockgate_store.tool_calls k
            where k.tenant_id = c.tenant_id and k.session_id = c.session_id
              and k.run_id = c.run_id and k.status in ('pending', 'answered')),
         case when c.run_id = p_session.terminal_run_id then p_session.terminal_status
           else 'superseded' end, false, null::integer,
         null::jsonb
    into v_scene
    from (values (p_entry.tenant_id, p_entry.session_id)) e(tenant_id, session_id)
    left join lockgate_store.runs c
      on c.run_id = p_session.current_run_id
     and c.tenant_id = e.tenant_id and c.session_id = e.session_id
    left join lockgate_store.runs h
      on h.tenant_id = e.tenant_id and h.session_id = e.session_id
     and h.request_key = p_entry.request_key
    left join lockgate_store.runs t on p_entry.names_run and t.run_id = p_entry.run_id
    left join lockgate_store.streams st
      on st.tenant_id = e.tenant_id and st.session_id = e.session_id;
  if (v_scene.current).status = 'running' then
    v_scene.executes := lockgate.is_executing(
      v_scene.current, p_entry.dispatch_limit_ms, p_session.terminal_run_id);
  end if;
  if p_entry.checkpoint_id is not null or p_entry.drive = 'retry' then
    v_rewind := lockgate.find_rewind(p_entry, p_session, v_scene.current);
    v_scene.keeps_messages := v_rewind.message_count;
    v_scene.restores_state := v_rewind.state;
  end if;
  return v_scene;
end;
$$;
