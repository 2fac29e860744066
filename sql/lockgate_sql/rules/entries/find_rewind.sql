create function lockgate.find_rewind(
  p_entry lockgate.entry,
  p_session lockgate_store.sessions,
  p_current lockgate_store.runs
)
  returns lockgate.rewind
  language plpgsql stable
as $$
-- Finds the place that an entry goes back to: the checkpoint it names, or for a retry that names
-- none the last thing committed before the failed step. Empty for an id that is no checkpoint of
-- this session; a checkpoint's id is its run and step.
declare
  v_checkpoint lockgate_store.checkpoints;
  v_state jsonb;
begin
  if p_entry.checkpoint_id is null then
    return row(lockgate.count_before_failure(p_session, p_current), null)::lockgate.rewind;
  end if;
  if p_entry.checkpoint_id !~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:[1-9][0-9]{0,8}$' then
    return null;
  end if;
  select c.* into v_checkpoint
    from lockgate_store.runs r
    join lockgate_store.checkpoints c
      on c.tenant_id = r.tenant_id and c.session_id = r.session_id and c.turn = r.turn
     and c.run_id = r.run_id and c.step = split_part(p_entry.checkpoint_id, ':', 2)::integer
   where r.run_id = split_part(p_entry.checkpoint_id, ':', 1)::uuid
     and r.tenant_id = p_entry.tenant_id and r.session_id = p_entry.session_id;
  if not found then
    return null;
  end if;
  select c.state into v_state
    from lockgate_store.checkpoints c
   where c.tenant_id = p_entry.tenant_id and c.session_id = p_entry.session_id
     and (c.turn, c.step) <= (v_checkpoint.turn, v_checkpoint.step) and c.state is not null
   order by c.turn desc, c.step desc
   limit 1;
  return (v_checkpoint.message_count, coalesce(v_state, '{}'))::lockgate.rewind;
end;
$$;
