create type lockgate.drive_workflow_result as (
  status text, executor_id text, drive_version text, dispatched_at timestamptz);

create function lockgate.drive_workflow(p_drive_id uuid)
  returns lockgate.drive_workflow_result
  language plpgsql stable set search_path = dbos, pg_temp
as $$
-- Reads what DBOS says of an attempt's workflow; an empty row where it is missing. The pinned
-- search_path is what names DBOS's schema.
declare
  v_result lockgate.drive_workflow_result;
begin
  select w.status, w.executor_id, w.application_version,
         to_timestamp(w.started_at_epoch_ms / 1000.0)
    into v_result
    from workflow_status w
   where w.workflow_uuid = p_drive_id::text;
  return v_result;
end;
$$;
