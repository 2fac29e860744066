"""Install: DBOS's tables, then ours, then the rules, all in the user's own database.

Idempotent, and safe when several run at once: the manifest takes an advisory lock first. It needs
no more than to own its schemas; what it may not do is said, with the line a DBA must run.
"""

from __future__ import annotations

from dataclasses import dataclass

import psycopg

import lockgate_sql

LOCK_TIMEOUT_MS = 30_000  # a live system's long transaction must not be queued behind for ever


@dataclass(frozen=True, slots=True)
class InstallSettings:
    """Where to install, and whom to grant: names that a DBA may have chosen otherwise."""

    dbos_schema: str = "dbos"
    runtime_role: str = "lockgate_runtime"
    dashboard_role: str = "lockgate_dashboard"


def install(database_url: str, settings: InstallSettings | None = None) -> list[str]:
    """Install or upgrade everything; returns what a DBA still has to do, if anything.

    database_url  a direct connection, past any pooler
    Errors        psycopg.Error, with nothing changed
    """
    chosen = settings or InstallSettings()
    migrate_dbos(database_url, chosen.dbos_schema)
    return install_rules(database_url, chosen)


def migrate_dbos(database_url: str, dbos_schema: str) -> None:
    """Bring DBOS's own tables up to date, in the same database."""
    # Importing DBOS takes over a second, which `lockgate --help` should not.
    from dbos import DBOS, SQLAlchemyDatasource

    DBOS.migrate(database_url, schema=dbos_schema)
    SQLAlchemyDatasource.migrate(database_url, schema=dbos_schema)


def install_rules(database_url: str, settings: InstallSettings) -> list[str]:
    """Apply the tables and remake the rules, in one transaction."""
    notices: list[str] = []
    with psycopg.connect(database_url, application_name="lockgate install") as conn:
        conn.add_notice_handler(lambda diagnostic: notices.extend(_advice(diagnostic)))
        with conn.transaction():
            for name, value in (
                ("lock_timeout", str(LOCK_TIMEOUT_MS)),
                ("lockgate.dbos_schema", settings.dbos_schema),
                ("lockgate.runtime_role", settings.runtime_role),
                ("lockgate.dashboard_role", settings.dashboard_role),
            ):
                conn.execute("select set_config(%s, %s, true)", (name, value))
            for path in lockgate_sql.manifest():
                conn.execute(lockgate_sql.text(path).encode())
    return notices


def _advice(diagnostic: psycopg.errors.Diagnostic) -> list[str]:
    if diagnostic.severity_nonlocalized != "WARNING":
        return []
    return [
        part for part in (diagnostic.message_primary, diagnostic.message_hint) if part is not None
    ]
