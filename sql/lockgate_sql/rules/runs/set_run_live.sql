create function lockgate.set_run_live(
  p_run lockgate_store.runs,
  p_status text,
  p_end_sequence bigint
)
  returns void
  language plpgsql volatile
as $$
-- Writes a live run's other live status. A suspended run has no owner and no attempt: what its last
-- drive still sends is fenced.
begin
  update lockgate_store.runs r
     set status = p_status,
         owner_id = case when p_status = 'running' then r.owner_id end,
         attempt = r.attempt + case when p_status = 'running' then 0 else 1 end,
         end_sequence = coalesce(p_end_sequence, r.end_sequence)
   where r.tenant_id = p_run.tenant_id and r.session_id = p_run.session_id
     and r.run_id = p_run.run_id;
end;
$$;
