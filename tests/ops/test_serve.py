"""An API process is ready when it says so, leaves in order within its bound, and keeps the door."""

import json
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from lockgate_ops.children import Child, Children
from lockgate_ops.settings import child_environment
from tests.ops.processes import COMMAND, lockgate, processes_with, wait_until
from tests.support.cluster import Database
from tests.support.door import Door

DRAIN_S = 1.0
LEAVES_WITHIN_S = DRAIN_S + 2.0
LATE_S = 1.0  # what a busy machine may take to tell us
OPEN = ["serve", "--allow-unauthenticated", "--port", "0", "--drain-s", str(DRAIN_S)]
DRIVEN = "select from lockgate.live_runs where phase = 'driven'"
GUARDED = """
from lockgate import Runtime
from lockgate_api import Principal
from lockgate_ops.demo_agents import demo_agents

runtime = Runtime(demo_agents())

def authenticate(request):
    user = request.headers.get("x-user")
    return Principal(user_id=user) if user else None
"""


def _start(client: httpx.Client, session_id: str, *turns: object) -> httpx.Response:
    return client.post(
        f"/sessions/{session_id}/start",
        json={"agentType": "scripted", "input": {"message": f"script: {json.dumps(turns)}"}},
    )


def _slow(seconds: float) -> dict[str, object]:
    return {"calls": [{"tool": "slow", "args": {"seconds": seconds}}]}


@contextmanager
def _reading(address: str, session_id: str) -> Iterator[list[str]]:
    """Read a session's stream in the background until it ends; yields its lines, once there are."""
    lines: list[str] = []

    def read() -> None:
        with httpx.stream("GET", f"{address}/sessions/{session_id}/sse", timeout=30) as answer:
            for line in answer.iter_lines():
                lines.append(line)
            lines.append("the body has ended")

    thread = threading.Thread(target=read)
    thread.start()
    wait_until(lambda: lines, "the first line")
    yield lines
    thread.join(20)
    assert not thread.is_alive()


def _leave(child: Child, number: signal.Signals = signal.SIGTERM) -> tuple[int, float]:
    began = time.monotonic()
    child.process.send_signal(number)
    return child.process.wait(20), time.monotonic() - began


def test_term_ends_open_streams_and_hands_the_run_over_within_the_bound(
    children: Children, clean_database: Database
) -> None:
    api = children.start(OPEN, database_url=clean_database.url)
    address = api.ready()
    with httpx.Client(base_url=address) as client:
        assert client.get("/readyz").status_code == 200
        assert _start(client, "s1", _slow(600)).json()["status"] == "started"
    with clean_database.connect() as conn, _reading(address, "s1") as lines:
        door = Door(conn)
        wait_until(
            lambda: door.rows("select from lockgate.live_runs where phase = 'driven'"), "drive"
        )
        code, took = _leave(api)
        assert code == 0
        assert DRAIN_S <= took < LEAVES_WITHIN_S + LATE_S
        run = door.row("select status, owner_id, attempt from lockgate.run_ledger")
        assert (run.status, run.owner_id, run.attempt) == ("running", None, 2)
    assert lines[-1] == "the body has ended"
    last = [line for line in lines if line.startswith("data: ")][-1]
    assert json.loads(last.removeprefix("data: "))["recoverable"] is True


def test_a_process_with_nothing_to_finish_leaves_at_once(
    children: Children, clean_database: Database
) -> None:
    api = children.start([*OPEN, "--no-worker"], database_url=clean_database.url)
    worker = children.start(["work", "--drain-s", "10"], database_url=clean_database.url)
    address = api.ready()
    assert worker.ready()
    with httpx.Client(base_url=address) as client:
        assert _start(client, "s1", {"say": "done"}).status_code == 200
        wait_until(lambda: client.get("/sessions/s1/status").json()["status"] == "completed", "end")
    for child, number in ((api, signal.SIGINT), (worker, signal.SIGTERM)):
        code, took = _leave(child, number)
        assert (code, took < LEAVES_WITHIN_S + LATE_S) == (0, True)


def test_a_second_signal_leaves_at_once(children: Children, clean_database: Database) -> None:
    api = children.start([*OPEN[:-1], "60"], database_url=clean_database.url)
    with httpx.Client(base_url=api.ready()) as client:
        _start(client, "s1", _slow(600))
    with clean_database.connect() as conn:
        door = Door(conn)
        wait_until(
            lambda: door.rows("select from lockgate.live_runs where phase = 'driven'"), "drive"
        )
        api.process.terminate()
        wait_until(lambda: door.rows("select from lockgate.worker_health where draining"), "drain")
    code, took = _leave(api)
    assert (code, took < LATE_S) == (128 + signal.SIGTERM, True)


def test_without_a_url_it_keeps_a_private_database_that_goes_and_comes_with_it(
    children: Children, room: Path
) -> None:
    data = str(room / "kept")
    for turn in (1, 2):
        api = children.start(["serve", "--port", "0"], data_folder=data, drain_s="1")
        with httpx.Client(base_url=api.ready()) as client:
            assert _start(client, "s1", {"say": "done"}).status_code == 200
            status = "/sessions/s1/status"
            wait_until(lambda: client.get(status).json()["status"] == "completed", "end")  # noqa: B023 - called at once.
            assert client.get(status).json()["turn"] == turn
            client.headers["origin"] = "https://stranger.example"
            assert _start(client, "s1", {"say": "done"}).status_code == 403
        assert _leave(api)[0] == 0
        assert processes_with(data) == []


def test_whoever_serves_a_given_database_says_who_may_call(clean_database: Database) -> None:
    done = lockgate("serve", "--port", "0", database_url=clean_database.url)
    assert done.returncode == 2
    assert "--allow-unauthenticated" in done.stderr


def test_the_agents_module_may_say_who_asks(clean_database: Database, tmp_path: Path) -> None:
    (tmp_path / "guarded.py").write_text(GUARDED)
    words = ["serve", "--port", "0", "--no-worker", "--agents", "guarded:runtime"]
    environment = child_environment(database_url=clean_database.url)
    with subprocess.Popen(
        [*COMMAND, *words], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    ) as api:
        assert api.stdout is not None
        said = api.stdout.readline()
        assert said.startswith("ready ")
        with httpx.Client(base_url=said.split()[1]) as client:
            assert _start(client, "s1", {"say": "done"}).status_code == 401
            client.headers["x-user"] = "ann"
            assert _start(client, "s1", {"say": "done"}).status_code == 200
        api.terminate()
        assert api.wait(20) == 0


def test_an_address_that_is_taken_is_said_so(clean_database: Database) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = lockgate(*OPEN[:2], "--port", port, database_url=clean_database.url)
    assert done.returncode == 2
    assert f"cannot listen on 127.0.0.1 port {port}" in done.stderr
    assert "0 for any free one" in done.stderr


def test_a_database_without_lockgate_stops_the_start(clean_database: Database) -> None:
    with clean_database.connect() as conn:
        conn.execute("drop schema lockgate cascade")
    done = lockgate(*OPEN, database_url=clean_database.url)
    assert done.returncode == 1
    assert "run `lockgate install`" in done.stderr
    assert done.stderr.count("\n") == 1


def test_figures_are_served_only_where_somebody_asked_for_them(
    children: Children, clean_database: Database
) -> None:
    words, url = [*OPEN, "--no-worker"], clean_database.url
    silent = children.start(words, database_url=url)
    told = children.start(words, database_url=url, metrics="true")
    assert httpx.get(f"{silent.ready()}/metrics").status_code == 404
    assert "lockgate_workers_alive 0.0" in httpx.get(f"{told.ready()}/metrics").text
    for child in (silent, told):
        assert _leave(child)[0] == 0
