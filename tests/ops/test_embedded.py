"""The private server lives exactly as long as its owner, and only its owner gets in."""

import contextlib
import os
import pwd
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import psycopg
import pytest

from lockgate_ops import binaries
from lockgate_ops.embedded import (
    PASSWORD_FILE,
    EmbeddedPostgres,
    EmbeddedPostgresError,
    temporary_postgres,
    user_data_folder,
)

IS_ROOT = os.geteuid() == 0
# An owner of the user's own folder, until its stdin ends.
ORDINARY_OWNER = """
import sys
from pathlib import Path
from lockgate_ops.embedded import EmbeddedPostgres, user_data_folder

with EmbeddedPostgres(user_data_folder(), Path(sys.argv[1])) as server:
    print(server.url, flush=True)
    sys.stdin.read()
"""


def _servers_at_hand() -> dict[int, Path]:
    """Return one folder of programs for each major version this machine has."""
    found = {
        binaries.major_version(path): path for path in Path("/usr/lib/postgresql").glob("*/bin")
    }
    with contextlib.suppress(EmbeddedPostgresError):
        first = binaries.find_bindir()
        found[binaries.major_version(first)] = first
    return {major: path for major, path in found.items() if major >= binaries.OLDEST_MAJOR}


def _one(url: str, query: str) -> Any:
    with psycopg.connect(url) as conn:
        row = conn.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedPostgres]:
    with temporary_postgres(settings={"work_mem": "7MB", "datestyle": "SQL, DMY"}) as running:
        yield running


@pytest.mark.parametrize("major", sorted(_servers_at_hand()))
def test_each_server_at_hand_serves_utf8_by_tcp_and_by_socket(major: int) -> None:
    with temporary_postgres(_servers_at_hand()[major]) as server:
        version = int(_one(server.url, "show server_version_num"))
        assert version // 10_000 == major
        assert _one(server.url, "show server_encoding") == "UTF8"
        assert _one(server.url, "select datcollate from pg_database limit 1") == "C"
        assert _one(server.url, "show fsync") == "on"
        by_socket = server.url.replace("127.0.0.1", str(server.socket_folder).replace("/", "%2F"))
        assert _one(by_socket, "select inet_server_addr()") is None
    assert not server.data.parent.exists()
    assert not server.socket_folder.exists()


def test_the_server_never_runs_as_root(server: EmbeddedPostgres) -> None:
    owner = server.data.stat().st_uid
    assert owner == (server.account.pw_uid if server.account else os.geteuid())
    assert owner != 0


def test_settings_are_the_callers_over_ours(server: EmbeddedPostgres) -> None:
    assert _one(server.url, "show work_mem") == "7MB"
    assert _one(server.url, "show datestyle") == "SQL, DMY"
    assert _one(server.url, "show max_connections") == "200"
    assert _one(server.url, "show shared_buffers") == "128MB"


def test_the_password_is_required_and_its_file_is_private(server: EmbeddedPostgres) -> None:
    stored = server.data / PASSWORD_FILE
    assert stat.S_IMODE(stored.stat().st_mode) == 0o600
    wrong = server.url.replace(stored.read_text(), "wrong")
    for url in (wrong, wrong.replace("127.0.0.1", str(server.socket_folder).replace("/", "%2F"))):
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(url)


def test_data_and_port_outlive_a_stop_and_a_second_start_answers_the_url(made: Path) -> None:
    server = EmbeddedPostgres(made)
    url = server.start()
    assert server.start() == url
    with psycopg.connect(url) as conn:
        conn.execute("create table kept as select 42 as answer")
    server.stop()
    server.stop()
    with pytest.raises(EmbeddedPostgresError, match=r"start\(\) it"):
        _ = server.url
    assert server.start() == url
    server.stop()
    with EmbeddedPostgres(made) as another:
        assert _one(another.url, "select answer from kept") == 42


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_a_restart_keeps_the_address_and_what_was_committed(
    made: Path, mode: Literal["fast", "immediate"]
) -> None:
    with EmbeddedPostgres(made) as server:
        url = server.url
        with psycopg.connect(url, autocommit=True) as conn:
            conn.execute(f"create table kept_{mode} ()".encode())
            server.restart(mode)
            with pytest.raises(psycopg.OperationalError):
                conn.execute("select 1")

        assert server.url == url
        with psycopg.connect(url) as conn:
            assert conn.execute(f"select from kept_{mode}".encode()).fetchall() == []


def test_data_of_another_major_is_refused_with_both_versions(made: Path) -> None:
    server = EmbeddedPostgres(made)
    ours = binaries.major_version(server.bindir)
    (made / "PG_VERSION").write_text("9\n")
    told = f"made by Postgres 9 and .* is Postgres {ours}: set LOCKGATE_PG_BIN"
    with pytest.raises(EmbeddedPostgresError, match=told):
        server.start()


@pytest.mark.skipif(not IS_ROOT, reason="only root can give a folder away")
def test_data_of_another_user_is_refused_with_both_users(made: Path) -> None:
    os.chown(made, 4242, 4242)
    with pytest.raises(EmbeddedPostgresError, match=r"to user 4242 .* start lockgate as"):
        EmbeddedPostgres(made).start()


def test_a_folder_of_something_else_is_refused_and_left_alone(room: Path) -> None:
    (room / "data").mkdir()
    (room / "data" / "thesis.txt").write_text("years of work")
    with pytest.raises(EmbeddedPostgresError, match="lockgate did not make it: choose another"):
        EmbeddedPostgres(room / "data").start()
    assert (room / "data" / "thesis.txt").read_text() == "years of work"


def test_a_server_that_does_not_start_says_why() -> None:
    why = 'unrecognized configuration parameter "nonsense"'
    with (
        pytest.raises(EmbeddedPostgresError, match=why),
        temporary_postgres(settings={"nonsense": "1"}),
    ):
        pass


@pytest.mark.skipif(not IS_ROOT, reason="only root has another account's rights to miss")
def test_a_folder_the_account_cannot_enter_is_named_and_keeps_its_mode(room: Path) -> None:
    (room / "private").mkdir(mode=0o700)
    with pytest.raises(EmbeddedPostgresError, match=f"cannot enter {room}/private: choose"):
        EmbeddedPostgres(room / "private" / "data").start()
    assert stat.S_IMODE((room / "private").stat().st_mode) == 0o700


def test_an_ordinary_user_needs_no_rights(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binaries, "BINARY_CACHE", room / "cache")
    user = pwd.getpwnam("nobody") if IS_ROOT else None
    python = _python_for(user)
    bindir = binaries.reachable_bindir(binaries.find_bindir(), user)
    # The user may not reach our checkout either, so it gets the modules by themselves.
    assert binaries.__file__ is not None
    shutil.copytree(Path(binaries.__file__).parent, room / "lockgate_ops")
    (room / "home").mkdir()
    if user:
        os.chown(room / "home", user.pw_uid, user.pw_gid)
    with subprocess.Popen(
        [python, "-W", "error", "-c", ORDINARY_OWNER, bindir],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd="/",
        env={"HOME": str(room / "home"), "PATH": os.defpath, "PYTHONPATH": str(room)},
        **binaries.dropped_to(user),
    ) as owner:
        assert owner.stdout is not None
        assert _one(owner.stdout.readline().strip(), "select 1") == 1
        made = room / "home" / ".local/share/lockgate/postgres"
        assert made.stat().st_uid == (user.pw_uid if user else os.geteuid())
    assert owner.returncode == 0


def _python_for(user: pwd.struct_passwd | None) -> str:
    new_enough = "import sys; sys.exit(sys.version_info < (3, 11))"
    for python in (sys.executable, "/usr/bin/python3"):
        with contextlib.suppress(OSError):
            tried = subprocess.run([python, "-c", new_enough], **binaries.dropped_to(user))
            if tried.returncode == 0:
                return python
    pytest.skip("no Python 3.11 that `nobody` can run: apt-get install python3")


def test_the_data_folder_follows_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert user_data_folder("/somewhere") == Path("/var/lib/lockgate/postgres")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert user_data_folder("/somewhere") == Path("/somewhere/lockgate/postgres")
    for unset in (None, "", "not/absolute"):
        assert user_data_folder(unset) == Path.home() / ".local/share/lockgate/postgres"
