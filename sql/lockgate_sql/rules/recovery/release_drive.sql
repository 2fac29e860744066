create function lockgate.release_drive(p_drive_id uuid)
  returns void
  language plpgsql volatile set search_path = dbos, pg_temp
as $$
-- Ends the wait of an attempt's workflow: the queue may hand it out. The session and the run are
-- locked, and DBOS may have ended the wait itself by now. The pinned search_path is what names
-- DBOS's schema.
--
-- Locks     DBOS's row, last
-- Writes    DBOS's workflow row
begin
  update workflow_status w
     set status = 'ENQUEUED', delay_until_epoch_ms = null
   where w.workflow_uuid = p_drive_id::text and w.status = 'DELAYED';
end;
$$;
