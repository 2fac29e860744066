create view lockgate.run_ledger as
-- Which runs were there, how did each begin and end, and what did it cost in time and attempts?
select r.tenant_id, r.session_id, r.turn, r.run_id, s.agent_type, r.drive, r.status, r.request_key,
       r.attempt, r.step_count, r.owner_id, r.stop_kind, r.error_detail ->> 'code' as error_code,
       r.start_sequence, r.end_sequence, r.started_at, r.claimed_at, r.completed_at,
       r.completed_at - r.started_at as duration
  from lockgate_store.runs r
  join lockgate_store.sessions s on s.tenant_id = r.tenant_id and s.session_id = r.session_id;
