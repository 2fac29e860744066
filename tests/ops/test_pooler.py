"""A pooler in transaction mode is noticed, and does no harm."""

import asyncio
import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from lockgate_ops.binaries import server_account
from lockgate_ops.doctor import examine
from lockgate_ops.indexes import build_indexes
from lockgate_ops.readiness import require_ready
from lockgate_ops.refusals import Refused
from lockgate_ops.settings import read_settings
from tests.ops.processes import wait_until
from tests.support.cluster import Database

pytestmark = pytest.mark.skipif(
    not shutil.which("pgbouncer"), reason="no pgbouncer: apt-get install pgbouncer"
)
CONFIGURATION = """
[databases]
pooled = host={to.hostname} port={to.port} dbname={name} user={to.username} password={to.password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
auth_type = trust
auth_file = {users}
pool_mode = transaction
unix_socket_dir =
"""


@pytest.fixture
def pooled_url(clean_database: Database, room: Path) -> Iterator[str]:
    """The test's database, through a pooler that gives each transaction another connection."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    users, written = room / "users", room / "pgbouncer.ini"
    users.write_text('"me" ""\n')
    to = urlsplit(clean_database.url)
    written.write_text(
        CONFIGURATION.format(to=to, name=clean_database.name, port=port, users=users)
    )
    account = server_account() or pwd.getpwuid(os.geteuid())
    drop = ["-u", account.pw_name] if os.geteuid() == 0 else []
    with subprocess.Popen(
        ["pgbouncer", "-q", *drop, str(written)], stderr=subprocess.DEVNULL
    ) as pooler:
        url = f"postgresql://me@127.0.0.1:{port}/pooled"
        wait_until(lambda: _answers(url), "the pooler answers")
        yield url
        pooler.terminate()


def _answers(url: str) -> bool:
    try:
        psycopg.connect(url, prepare_threshold=None).close()
    except psycopg.OperationalError:
        return False
    return True


def test_start_up_sees_a_pooler_and_takes_no_link_through_it_for_a_direct_one(
    pooled_url: str,
) -> None:
    assert not asyncio.run(require_ready(pooled_url)).is_direct


def test_a_guard_is_built_past_the_pooler_only(pooled_url: str, clean_database: Database) -> None:
    assert build_indexes(pooled_url) == []
    with clean_database.connect() as conn:
        conn.execute("drop index lockgate_store.runs_one_live")
    with pytest.raises(Refused, match="--direct-url"):
        build_indexes(pooled_url)
    assert build_indexes(clean_database.url) == ["runs_one_live"]


def test_the_doctor_asks_for_a_direct_url_beside_a_pooler(
    pooled_url: str, clean_database: Database
) -> None:
    for direct_url, level in ((None, "warn"), (clean_database.url, "ok"), (pooled_url, "bad")):
        settings = read_settings(database_url=pooled_url, direct_url=direct_url)
        (found,) = [each for each in asyncio.run(examine(settings)) if each.check == "connection"]
        assert found.level == level, found
