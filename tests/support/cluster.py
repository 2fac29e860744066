"""The tests' Postgres: one server a session, two templates, a database for each test.

A clone costs 25 ms with its end, and a backend that has never seen the rules 40 ms more. So the
tests of single rules, which are many, are lent a database that is emptied after each and keeps a
warm connection; all others get a clone. A test that leaves a connection open fails.
"""

import itertools
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from psycopg import sql

import lockgate_sql
from lockgate_ops.binaries import server_account
from lockgate_ops.embedded import EmbeddedPostgres
from tests.support.connections import Connection, connect
from tests.support.store import catalog_print, emptied

NOW_SQL = Path(__file__).with_name("now.sql")
# A crash of the test server loses nothing that anybody wants.
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
# Ten workers, or sixteen racers and a few observers; the autovacuum would hold templates open.
SETTINGS = {**FAST, "max_connections": "200", "autovacuum": "off"}
MEMORY = Path("/dev/shm")
ROOM_BYTES = 2 * 2**30
CLOSING_S = 2.0  # A closed connection's backend is gone in milliseconds, but not at once.


@dataclass(frozen=True, slots=True)
class Database:
    """One test's own database."""

    name: str
    url: str = field(repr=False)

    def connect(self, *, autocommit: bool = True) -> Connection:
        """Open a connection; who opens it closes it, or the test fails."""
        return connect(self.url, autocommit=autocommit)


@dataclass(frozen=True, slots=True)
class LentDatabase(Database):
    """A database that other tests had before and others will have after."""

    warm: Connection = field(repr=False)


class Cluster:
    """One server: its templates, made when first asked for, and their clones."""

    def __init__(self, admin: Connection, server_url: str) -> None:
        self._admin = admin
        self._server_url = server_url.rsplit("/", 1)[0]
        self._numbers = itertools.count(1)
        self._templates: dict[str, str] = {}
        self._idle: dict[str, list[LentDatabase]] = {}

    @contextmanager
    def clone(self, kind: str) -> Iterator[Database]:
        """Lend a fresh database: `frozen`, whose clock can be moved, or `real`."""
        name = self._new(kind)
        try:
            yield Database(name, self._url(name))
            left = self._left_open(name)
        finally:
            self._drop(name)
        assert not left, f"connections left open to the test's database: {left}"

    @contextmanager
    def lend(self, kind: str) -> Iterator[LentDatabase]:
        """Lend a database without a row, and a connection to it; both are used again."""
        idle = self._idle.setdefault(kind, [])
        database = idle.pop() if idle else self._warmed(self._new(kind))
        catalog = catalog_print(database.warm)
        reusable = False
        try:
            yield database
            left = self._left_open(database.name, database.warm.info.backend_pid)
            assert not left, f"connections left open to the test's database: {left}"
            reusable = emptied(database.warm) and catalog_print(database.warm) == catalog
        finally:
            if reusable:
                idle.append(database)
            else:
                database.warm.close()
                self._drop(database.name)

    def close(self) -> None:
        """Close the connections that are kept warm."""
        for database in itertools.chain(*self._idle.values()):
            database.warm.close()

    def _warmed(self, name: str) -> LentDatabase:
        return LentDatabase(name, self._url(name), connect(self._url(name)))

    def _new(self, kind: str) -> str:
        name = f"lockgate_test_{next(self._numbers)}"
        self._create(name, self._template(kind))
        return name

    def _drop(self, name: str) -> None:
        self._execute("drop database {} with (force)", name)

    def _template(self, kind: str) -> str:
        if kind not in self._templates:
            name = f"template_{kind}"
            if kind == "real":
                self._execute("create database {}", name)
                install(self._url(name))
            else:
                self._create(name, self._template("real"))
                with connect(self._url(name)) as connection:
                    connection.execute(NOW_SQL.read_bytes())
            self._templates[kind] = name
        return self._templates[kind]

    def _create(self, name: str, template: str) -> None:
        # Copying files is twice as fast as logging them, where nothing is synced.
        self._execute("create database {} template {} strategy file_copy", name, template)

    def _execute(self, statement: str, *names: str) -> None:
        self._admin.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))

    def _url(self, name: str) -> str:
        return f"{self._server_url}/{name}"

    def _left_open(self, name: str, but: int = 0) -> list[str]:
        deadline = time.monotonic() + CLOSING_S
        while True:
            left = self._admin.execute(
                "select application_name || ': ' || coalesce(state, '') || ' ' || query"
                " from pg_stat_activity"
                " where datname = %s and backend_type = 'client backend' and pid <> %s",
                [name, but],
            ).fetchall()
            if not left or time.monotonic() > deadline:
                return [row[0] for row in left]


def install(url: str) -> None:
    """Install DBOS's tables, then Lockgate, each as an application's installer does."""
    from dbos import DBOS, SQLAlchemyDatasource  # Takes over a second, so only a template pays.

    DBOS.migrate(url, schema="dbos")
    SQLAlchemyDatasource.migrate(url, schema="dbos")
    with connect(url, autocommit=False) as connection:
        for path in lockgate_sql.manifest():
            connection.execute(lockgate_sql.text(path).encode())


@contextmanager
def running_cluster(bindir: Path | None = None) -> Iterator[Cluster]:
    """Start a server of those programs, or of the wheel's, in memory where there is room."""
    roomy = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM_BYTES
    folder = Path(tempfile.mkdtemp(prefix="lockgate-test-", dir=MEMORY if roomy else "/tmp"))
    if account := server_account():  # We are root; the folder is the server's to remove, too.
        os.chown(folder, account.pw_uid, account.pw_gid)
    try:
        with (
            EmbeddedPostgres(
                folder / "data", bindir, settings=SETTINGS, gone_with_owner=folder
            ) as server,
            psycopg.connect(server.url, autocommit=True) as admin,
        ):
            cluster = Cluster(admin, server.url)
            yield cluster
            cluster.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
