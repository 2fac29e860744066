create view lockgate.session_overview as
-- Which sessions are there, where does each stand, and what is it doing now?
select s.tenant_id, s.session_id, s.agent_type, s.user_id, s.tags, s.status, s.turn_count,
       s.message_count, r.run_id as current_run_id, r.status as run_status, r.owner_id,
       st.status as stream_status, st.head_sequence, s.error_detail ->> 'code' as error_code,
       s.created_at, s.updated_at
  from lockgate_store.sessions s
  left join lockgate_store.runs r
    on r.run_id = s.current_run_id and r.tenant_id = s.tenant_id and r.session_id = s.session_id
  left join lockgate_store.streams st
    on st.tenant_id = s.tenant_id and st.session_id = s.session_id;
