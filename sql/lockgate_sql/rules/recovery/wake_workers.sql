create function lockgate.wake_workers()
  returns void
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
-- Tells workers of other processes that a drive is waiting, after its commit. Only a hint: the
-- queue's poll is the guarantee. A statement of its own, since NOTIFY takes a database-wide lock
-- at commit that no entry should hold.
select pg_notify('lockgate_drives', '')
$$;
