"""The end of a session's life, as `delete_session` will write it: every row that names it goes."""

from psycopg import sql

from tests.support.connections import Connection
from tests.support.store import STORE

TABLES = """
  select c.table_name from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
   where c.table_schema = %s and c.column_name = 'session_id' and t.table_type = 'BASE TABLE'
   order by c.table_name = 'sessions' desc, c.table_name
"""


def end_life(connection: Connection, session_id: str, tenant_id: str = "") -> None:
    """Delete a session, its row first: that is the lock."""
    for (table,) in connection.execute(TABLES, [STORE]).fetchall():
        connection.execute(
            sql.SQL("delete from {} where tenant_id = %s and session_id = %s").format(
                sql.Identifier(STORE, table)
            ),
            [tenant_id, session_id],
        )
    connection.execute(
        "delete from dbos.workflow_status where workflow_uuid in (select workflow_uuid"
        " from dbos.workflow_input where inputs::jsonb #>> '{positionalArgs,0}' = %s"
        " and inputs::jsonb #>> '{positionalArgs,1}' = %s)",
        [tenant_id, session_id],
    )
