create function lockgate.set_run_ended(
  p_run lockgate_store.runs,
  p_status text,
  p_now timestamptz,
  p_output jsonb default null,
  p_error_detail jsonb default null,
  p_end_sequence bigint default null
)
  returns void
  language plpgsql volatile
as $$
-- Writes a live run's terminal status and ends its attempt: no owner, and a fence that nothing
-- of its last drive passes.
begin
  update lockgate_store.runs r
     set status = p_status,
         completed_at = p_now,
         owner_id = null,
         attempt = r.attempt + 1,
         output = p_output,
         error_detail = p_error_detail,
         end_sequence = coalesce(p_end_sequence, r.end_sequence)
   where r.tenant_id = p_run.tenant_id and r.session_id = p_run.session_id
     and r.run_id = p_run.run_id;
end;
$$;
