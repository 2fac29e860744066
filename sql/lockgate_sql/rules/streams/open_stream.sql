create function lockgate.open_stream(p_run lockgate_store.runs)
  returns bigint
  language plpgsql volatile
as $$
-- Gives the session's stream to a new run and returns the head, after which the run's own numbers
-- begin. The numbers go on, and all that is there is saved.
declare
  v_head bigint;
begin
  update lockgate_store.streams s
     set status = 'active',
         run_id = p_run.run_id,
         attempt = 1,
         committed_sequence = s.head_sequence,
         final = null
   where s.tenant_id = p_run.tenant_id and s.session_id = p_run.session_id
  returning s.head_sequence into v_head;
  if not found then
    insert into lockgate_store.streams (tenant_id, session_id, run_id)
      values (p_run.tenant_id, p_run.session_id, p_run.run_id);
    return p_run.start_sequence;
  end if;
  if v_head <> p_run.start_sequence then  -- A drive that counts as dead woke and appended.
    update lockgate_store.runs r set start_sequence = v_head where r.run_id = p_run.run_id;
  end if;
  return v_head;
end;
$$;
