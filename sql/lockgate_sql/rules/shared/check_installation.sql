create type lockgate.check_installation_result as (
  package_version text,
  drive_version text,
  rules_digest text,
  dbos_schema text,
  broken text[]
);

create function lockgate.check_installation()
  returns lockgate.check_installation_result
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
-- Says what is installed here, for a process that must fit it: which release, which drive protocol,
-- and a digest of the rules as they stand in the catalogue, so that an edit by hand shows too.
-- `broken` names what is missing or invalid of what the promises rest on: the unique indexes, and
-- DBOS's function that takes a drive.
declare
  v_rules_digest text;
  v_dbos_schema text;
  v_broken text[];
begin
  select lockgate.sha256_hex(string_agg(
           p.proname || E'\n' || p.prosrc, E'\n' order by p.proname collate "C"))
    into v_rules_digest
    from pg_catalog.pg_proc p
   where p.pronamespace = 'lockgate'::regnamespace;
  select trim('"' from substring(s.setting from '^search_path=(.*), pg_temp$'))
    into v_dbos_schema
    from pg_catalog.pg_proc p, unnest(p.proconfig) s(setting)
   where p.pronamespace = 'lockgate'::regnamespace and p.proname = 'enqueue_drive';
  v_broken := array(
    select g.guard
      from unnest(array['runs_run_id_once', 'runs_one_live', 'runs_request_key_once',
             'tool_calls_announced_once', 'children_of_call_once', 'children_named_once']) g(guard)
     where not exists (
       select from pg_catalog.pg_index i
        where i.indexrelid = to_regclass('lockgate_store.' || g.guard)
          and i.indisunique and i.indisvalid and i.indisready)
    union all
    select v_dbos_schema || '.enqueue_workflow'
     where not exists (
       select from pg_catalog.pg_proc p
         join pg_catalog.pg_namespace n on n.oid = p.pronamespace
        where n.nspname = v_dbos_schema and p.proname = 'enqueue_workflow'));
  return row('0.1.0', lockgate.drive_version(), v_rules_digest, v_dbos_schema, v_broken)
    ::lockgate.check_installation_result;
end;
$$;
