create function lockgate.count_before_failure(
  p_session lockgate_store.sessions,
  p_current lockgate_store.runs
)
  returns integer
  language plpgsql stable
as $$
-- How many messages stood before the step in which a session's current run failed: those of the
-- run's last committed step, or all up to the run's own input where it committed none. A retry
-- keeps the input that it tries again.
declare
  v_checkpoint lockgate_store.checkpoints;
begin
  select c.* into v_checkpoint
    from lockgate_store.checkpoints c
   where c.tenant_id = p_session.tenant_id and c.session_id = p_session.session_id
   order by c.turn desc, c.step desc
   limit 1;
  if v_checkpoint.run_id = p_current.run_id then
    return v_checkpoint.message_count;
  end if;
  -- What the run itself has said stands last: looked at from the end, that is all that is read.
  return coalesce((
    select m.seq
      from lockgate_store.messages m
     where m.tenant_id = p_session.tenant_id and m.session_id = p_session.session_id
       and (m.run_id <> p_current.run_id or m.role = 'user')
     order by m.seq desc
     limit 1), 0);
end;
$$;
