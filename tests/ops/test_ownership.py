"""A server dies with its owner, whoever is killed when, and a folder has one owner."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lockgate_ops import ownership
from lockgate_ops.embedded import EmbeddedPostgres, EmbeddedPostgresError

# A dead owner's server is gone in about half a second; a busy machine may need more.
SEEN_WITHIN_S = 20.0

# An owner tells what it has in one line of JSON, then waits to be killed.
OWNER = """
import json, os, signal, sys
from pathlib import Path
from lockgate_ops.embedded import EmbeddedPostgres, temporary_postgres

def own(server):
    forked = os.fork() if "fork" in sys.argv else 1
    if forked:
        facts = {"data": server.data, "sockets": server.socket_folder, "port": server.port}
        pids = {"forked": forked, "sentinel": server._sentinel.process.pid}
        print(json.dumps(facts | pids, default=str), flush=True)
    signal.pause()

where = sys.argv[1]
with temporary_postgres() if where == "temporary" else EmbeddedPostgres(Path(where)) as server:
    own(server)
"""


def _wait_until(seen: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + SEEN_WITHIN_S
    while not seen():
        assert time.monotonic() < deadline, f"not seen in {SEEN_WITHIN_S} s: {what}"
        threading.Event().wait(0.02)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextlib.contextmanager
def _owner(*words: object) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", OWNER, *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as owner:
        try:
            yield owner
        finally:
            owner.kill()


def _facts(owner: subprocess.Popen[str]) -> dict[str, Any]:
    assert owner.stdout is not None
    facts: dict[str, Any] = json.loads(owner.stdout.readline())
    return facts


def test_a_killed_owner_takes_its_server_along_and_leaves_its_data(made: Path) -> None:
    with _owner(made) as owner:
        facts = _facts(owner)
        assert _listens(facts["port"])
        owner.kill()
        _wait_until(lambda: not _listens(facts["port"]), "the server is down")
        _wait_until(lambda: not Path(facts["sockets"]).exists(), "its socket folder is gone")
    assert not (made / "postmaster.pid").exists()
    with EmbeddedPostgres(made) as server:
        assert _listens(server.port)


def test_a_killed_owner_of_a_temporary_server_leaves_nothing() -> None:
    with _owner("temporary") as owner:
        facts = _facts(owner)
        owner.kill()
        _wait_until(lambda: not Path(facts["data"]).parent.exists(), "the folder is gone")
        _wait_until(lambda: not Path(facts["sockets"]).exists(), "its socket folder is gone")
    assert not _listens(facts["port"])


def test_a_forked_child_does_not_keep_the_server_alive(made: Path) -> None:
    with _owner(made, "fork") as owner:
        facts = _facts(owner)
        try:
            owner.kill()
            _wait_until(lambda: not _listens(facts["port"]), "the server is down")
            with EmbeddedPostgres(made) as server:
                assert _listens(server.port)
        finally:
            os.kill(facts["forked"], signal.SIGKILL)


def test_an_orphan_of_a_killed_owner_and_sentinel_is_stopped_by_the_next_start(made: Path) -> None:
    with _owner(made) as owner:
        facts = _facts(owner)
        os.kill(facts["sentinel"], signal.SIGKILL)
        owner.kill()
        owner.wait()
        assert _listens(facts["port"])
        with EmbeddedPostgres(made) as server:
            assert not _listens(facts["port"])
            assert _listens(server.port)
    shutil.rmtree(facts["sockets"])


def test_a_stop_works_although_the_sentinel_was_killed(made: Path) -> None:
    with EmbeddedPostgres(made) as server:
        sentinel = server._sentinel
        assert sentinel is not None
        sentinel.process.kill()
        sentinel.process.wait()
        assert _listens(server.port)
    assert not _listens(server.port)


def test_the_sentinel_outlives_a_polite_signal(room: Path) -> None:
    lock = ownership.take_lock(room / "lock")
    words = ["/bin/false", str(room / "data"), str(room / "sockets"), ""]
    sentinel = ownership.Sentinel(words, lock, None)
    assert sentinel.run("echo ready") == (0, "ready")
    for polite in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        os.kill(sentinel.process.pid, polite)
    assert sentinel.run("echo still here") == (0, "still here")
    assert sentinel.dismiss()
    os.close(lock)


def test_a_second_owner_is_told_who_the_first_one_is(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ownership, "OWNER_TIMEOUT_S", 0.1)
    with EmbeddedPostgres(made) as first:
        told = f"process {os.getpid()} runs a server over {made}: .* choose another folder"
        with pytest.raises(EmbeddedPostgresError, match=told):
            EmbeddedPostgres(made).start()
        assert _listens(first.port)


def test_what_a_kill_during_initdb_left_is_removed(room: Path) -> None:
    with _owner(room / "data") as owner:
        _wait_until(lambda: any(room.glob("data.new-*")), "initdb has begun")
        owner.kill()
    assert not (room / "data").exists()
    with EmbeddedPostgres(room / "data") as server:
        assert not list(room.glob("data.new-*"))
        assert _listens(server.port)
