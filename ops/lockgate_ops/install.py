"""Install: the indexes where tables stand, DBOS's tables, ours, the rules; in the user's database.

Idempotent, and safe when several run at once: the manifest takes an advisory lock first. It needs
no more than to own its schemas; what it may not do is said, with the line a DBA must run.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version

import psycopg

import lockgate_sql
from lockgate_ops.exits import announce
from lockgate_ops.indexes import build_indexes
from lockgate_ops.refusals import FAILED, Refused
from lockgate_ops.settings import Settings

OLDEST_SERVER = 15
TAKES_TURNS = "tables/schema.sql"  # it holds the installers' lock until its transaction ends
LOCK_TIMEOUT_MS = 30_000  # a live system's long transaction must not be queued behind for ever


@dataclass(frozen=True, slots=True)
class InstallSettings:
    """Where to install, and whom to grant: names that a DBA may have chosen otherwise."""

    dbos_schema: str = "dbos"
    runtime_role: str = "lockgate_runtime"
    dashboard_role: str = "lockgate_dashboard"


def run(settings: Settings) -> int:
    """Install as the settings say, and print what a DBA still has to do; returns the exit code."""
    names = InstallSettings(
        dbos_schema=settings.dbos_schema,
        runtime_role=settings.runtime_role,
        dashboard_role=settings.dashboard_role,
    )
    url = settings.direct_url or settings.required_url()
    for line in [*look_at_server(url), *install(url, names)]:
        announce(line)
    announce(f"installed: Lockgate {version('lockgate')}, DBOS in schema {names.dbos_schema}")
    return 0


def look_at_server(database_url: str) -> list[str]:
    """Refuse a server that is too old; return a warning where a pooler lies between.

    Errors  Refused; psycopg.Error when it cannot connect
    """
    try:
        conn = psycopg.connect(database_url, autocommit=True, connect_timeout=5)
    except psycopg.ProgrammingError as error:
        raise Refused(f"the database's URL cannot be read: {error}") from None
    with conn:
        major = conn.info.server_version // 10_000
        if major < OLDEST_SERVER:
            raise Refused(
                f"the server is PostgreSQL {major}: Lockgate needs {OLDEST_SERVER} or newer",
                code=FAILED,
            )
        told = conn.execute("select pg_backend_pid()").fetchone()
        if told == (conn.info.backend_pid,):
            return []
    return [
        "a pooler lies between: if it pools by transaction, install over a direct connection "
        "(--direct-url, LOCKGATE_DIRECT_URL)"
    ]


def install(database_url: str, settings: InstallSettings | None = None) -> list[str]:
    """Install or upgrade everything; returns what a DBA still has to do, if anything.

    An index that is missing or invalid is built before anything else changes, and says so.

    database_url  a direct connection, past any pooler
    Errors        RowsInTheWay, where a unique one cannot be built; psycopg.Error. The rules are
                  then as they were, and the tables, but for what was mended or added before
    """
    chosen = settings or InstallSettings()
    build_indexes(database_url)
    migrate_dbos(database_url, chosen.dbos_schema)
    return install_rules(database_url, chosen)


def migrate_dbos(database_url: str, dbos_schema: str) -> None:
    """Bring DBOS's own tables up to date, in the same database."""
    # Importing DBOS takes over a second, which `lockgate --help` should not.
    from dbos import DBOS, SQLAlchemyDatasource

    DBOS.migrate(database_url, schema=dbos_schema)
    SQLAlchemyDatasource.migrate(database_url, schema=dbos_schema)


def install_rules(database_url: str, settings: InstallSettings) -> list[str]:
    """Apply the tables, then remake the rules: two transactions, and one installer at a time.

    `create index if not exists` holds up a table's writers until its transaction ends, though the
    index stands. A call that waits there would wake up among rules that have gone.
    """
    notices: list[str] = []
    rules = lockgate_sql.rule_files()
    tables = [path for path in lockgate_sql.manifest() if path not in rules]
    with psycopg.connect(database_url, application_name="lockgate install") as conn:
        conn.add_notice_handler(lambda diagnostic: notices.extend(_advice(diagnostic)))
        for paths in (tables, [TAKES_TURNS, *rules]):
            with conn.transaction():
                for name, value in _names(settings).items():
                    conn.execute("select set_config(%s, %s, true)", (name, value))
                for path in paths:
                    conn.execute(lockgate_sql.text(path).encode())
    return notices


def _names(settings: InstallSettings) -> dict[str, str]:
    return {
        "lock_timeout": str(LOCK_TIMEOUT_MS),
        "lockgate.dbos_schema": settings.dbos_schema,
        "lockgate.runtime_role": settings.runtime_role,
        "lockgate.dashboard_role": settings.dashboard_role,
    }


def _advice(diagnostic: psycopg.errors.Diagnostic) -> list[str]:
    if diagnostic.severity_nonlocalized != "WARNING":
        return []
    return [
        part for part in (diagnostic.message_primary, diagnostic.message_hint) if part is not None
    ]
