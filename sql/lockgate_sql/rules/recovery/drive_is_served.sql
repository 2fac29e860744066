create function lockgate.drive_is_served(
  p_drive_version text,
  p_now timestamptz
)
  returns boolean
  language sql stable
as $$
-- Says whether some living worker takes new drives of a version.
select exists (
  select from lockgate_store.workers w
   where w.drive_version = p_drive_version and not w.draining
     and w.heartbeat_at + w.lease_ms * interval '1 millisecond' > p_now)
$$;
