"""An ordinary role that owns its database, as a managed Postgres gives one: its limits can be set.

Tests' own connections are a superuser's, and no limit of the role holds them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from lockgate_ops.embedded import EmbeddedPostgres, temporary_postgres
from tests.support.cluster import FAST, Database, install
from tests.support.connections import connect


@dataclass(frozen=True)
class App:
    """A database of an ordinary role."""

    server: EmbeddedPostgres

    @property
    def url(self) -> str:
        """The database as its owner reaches it."""
        return f"postgresql://app:app@127.0.0.1:{self.server.port}/app"

    @property
    def database(self) -> Database:
        """The same database as a superuser reaches it."""
        return Database("app", self.server.url.rpartition("/")[0] + "/app")

    def set(self, *words: str) -> None:
        """Set limits of the role, as `connection limit 5` or `set lock_timeout = '1s'`."""
        with connect(self.server.url) as connection:
            for each in words:
                connection.execute(f"alter role app {each}".encode())

    @contextmanager
    def limited(self, *words: str) -> Iterator[None]:
        """Have limits hold for as long as the block lasts, for all of the role's sessions."""
        self.set(*words)
        self.terminate()
        try:
            yield
        finally:
            self.set("connection limit -1", "reset all")
            self.terminate()

    def logged(self, words: str) -> int:
        """Count the lines of the server's log that say so."""
        return (self.server.data / "server.log").read_text(errors="replace").count(words)

    def terminate(self) -> int:
        """End every connection of the role, and say how many there were."""
        with connect(self.server.url) as connection:
            ended = connection.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'app'"
            )
            return len(ended.fetchall())


@contextmanager
def app_of_an_ordinary_role() -> Iterator[App]:
    """Lend such a database, in which Lockgate is installed by its owner."""
    with temporary_postgres(settings=FAST) as server:
        with connect(server.url) as connection:
            connection.execute("create role app login createrole password 'app'")
            connection.execute("create database app owner app")
        app = App(server)
        install(app.url)
        yield app
