"""All that is stored: as text, for what must leave it as it was, and emptied for the next test."""

from functools import cache

from psycopg import sql

from tests.support.connections import Connection

STORE = "lockgate_store"
WORKFLOWS = ("dbos.workflow_status", "dbos.workflow_input")


def dump(connection: Connection) -> dict[str, list[str]]:
    """Return each table's rows with their place, so that even an equal rewrite is seen."""
    rows = connection.execute(_dump_query(_tables(connection))).fetchall()
    stored: dict[str, list[str]] = {}
    for table, row in rows:
        stored.setdefault(table, []).append(row)
    return stored


def _tables(connection: Connection) -> tuple[str, ...]:
    found = connection.execute(
        "select c.oid::regclass::text from pg_class c"
        " where c.relkind = 'r' and c.relnamespace = %s::regnamespace order by 1",
        [STORE],
    ).fetchall()
    return (*(row[0] for row in found), *WORKFLOWS)


@cache
def _dump_query(tables: tuple[str, ...]) -> sql.Composed:
    return sql.SQL(" union all ").join(
        sql.SQL("select {}, t.ctid || ' ' || t::text from {} t").format(
            sql.Literal(table), sql.Identifier(*table.split("."))
        )
        for table in tables
    ) + sql.SQL(" order by 1, 2")


EMPTY = b"""
reset all;
reset role;
do $$
declare
  v_table regclass;
begin
  for v_table in
    select c.oid
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'r' and n.nspname in ('lockgate_store', 'dbos')
       and c.relname !~ 'migrations'
  loop
    execute format('delete from %s', v_table);
  end loop;
end;
$$
"""


def emptied(connection: Connection) -> bool:
    """Delete every row and every setting of the session; say whether that could be done."""
    if connection.closed:
        return False
    connection.rollback()
    connection.execute(EMPTY)
    return True


def catalog_print(connection: Connection) -> str:
    """Return a fingerprint of the tables, functions and types that are not Postgres's own."""
    row = connection.execute(
        "select md5(string_agg(c.oid || ':' || c.xmin, ',' order by c.oid)) from ("
        " select oid::bigint, xmin::text from pg_class where oid >= 16384"
        " union all select oid, xmin::text from pg_proc where oid >= 16384"
        " union all select oid, xmin::text from pg_type where oid >= 16384) c"
    ).fetchone()
    assert row is not None
    return str(row[0])
