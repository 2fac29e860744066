-- The two schemas: lockgate_store keeps what must survive, lockgate is remade at every install.
--
-- Two installers at once take turns at the advisory lock, which the transaction's end releases.
set local client_min_messages = warning;

do $$
begin
  perform pg_advisory_xact_lock(hashtextextended('lockgate.install', 0));
  -- `create schema if not exists` asks for CREATE on the database even where the schema exists.
  if to_regnamespace('lockgate_store') is null then
    create schema lockgate_store;
  end if;
  if to_regnamespace('lockgate') is null then
    create schema lockgate;
  end if;
end;
$$;
