"""Databases in which nothing is installed yet, and what an installation of them looks like."""

import os
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from psycopg import sql

from tests.support.connections import connect


@dataclass(frozen=True, slots=True)
class BareDatabase:
    """An empty database: its URL for a superuser, and for the plain role that owns it."""

    url: str
    owner: str
    owner_url: str

    def owner_of(self, database: str) -> str:
        """Return the plain role's URL for another database, in which it owns nothing."""
        return f"{self.owner_url.rpartition('/')[0]}/{database}"


@contextmanager
def bare_database(server_url: str) -> Iterator[BareDatabase]:
    """Lend an empty database on that server, and the plain role that owns it."""
    name = f"bare_{secrets.token_hex(6)}"
    password = secrets.token_urlsafe(12)
    with connect(server_url) as admin:
        named = sql.Identifier(name)
        admin.execute(
            sql.SQL("create role {} login password {}").format(named, sql.Literal(password))
        )
        admin.execute(sql.SQL("create database {0} owner {0}").format(named))
        try:
            where = urlsplit(server_url)
            place = f"{where.hostname}:{where.port}/{name}"
            yield BareDatabase(
                url=f"postgresql://{where.username}:{where.password}@{place}",
                owner=name,
                owner_url=f"postgresql://{name}:{password}@{place}",
            )
        finally:
            admin.execute(sql.SQL("drop database {} with (force)").format(named))
            admin.execute(sql.SQL("drop role {}").format(named))


def schema_dump(bindir: Path, url: str) -> str:
    """Return both our schemas as pg_dump writes them, rights and owners included."""
    done = subprocess.run(
        [bindir / "pg_dump", "--schema-only", "-n", "lockgate", "-n", "lockgate_store", url],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": os.defpath},
    )
    # Each dump has a random word of its own.
    return "\n".join(
        line
        for line in done.stdout.splitlines()
        if not line.startswith(("\\restrict", "\\unrestrict"))
    )
