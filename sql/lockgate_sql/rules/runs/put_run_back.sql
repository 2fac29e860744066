create function lockgate.put_run_back(p_run lockgate_store.runs)
  returns void
  language plpgsql volatile
as $$
-- Undoes set_run_ended within the commit that made it, when a unique index refused the run that
-- was to follow.
begin
  update lockgate_store.runs r
     set status = p_run.status,
         completed_at = p_run.completed_at,
         owner_id = p_run.owner_id,
         attempt = p_run.attempt,
         output = p_run.output,
         error_detail = p_run.error_detail,
         end_sequence = p_run.end_sequence
   where r.tenant_id = p_run.tenant_id and r.session_id = p_run.session_id
     and r.run_id = p_run.run_id;
end;
$$;
