create function lockgate.listen_for_drives()
  returns void
  language plpgsql volatile
as $$
-- Makes the calling connection hear lockgate.wake_workers; over a direct connection only.
begin
  listen lockgate_drives;
end;
$$;
