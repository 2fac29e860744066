create function lockgate.create_run(
  p_entry lockgate.entry,
  p_turn integer,
  p_start_sequence bigint,
  p_now timestamptz
)
  returns lockgate_store.runs
  language plpgsql volatile
as $$
-- Inserts a run, with the id of the workflow that will drive it; an empty row where a unique
-- index already holds its id, its key or a live run of the session.
declare
  v_run lockgate_store.runs;
begin
  insert into lockgate_store.runs as r (
      tenant_id, session_id, run_id, turn, drive, request_key, request_digest, start_digest,
      drive_id, dispatch_at, start_sequence, started_at)
    values (
      p_entry.tenant_id, p_entry.session_id, p_entry.run_id, p_turn, p_entry.drive,
      p_entry.request_key,
      case when p_entry.request_key is not null then p_entry.request_digest end,
      p_entry.start_digest, gen_random_uuid(), p_now, p_start_sequence, p_now)
    on conflict do nothing
    returning r.* into v_run;
  return v_run;
end;
$$;
