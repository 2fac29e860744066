"""What only a real server shows: bodies in pieces, readers that go, a process that leaves."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.api.live import WAIT_S, Event, parsed
from tests.api.rig import LOOK_EVERY_S
from tests.api.server import Served, serving
from tests.support.cluster import Database
from tests.support.door import AGENT, Door
from tests.support.proves import case
from tests.support.rows import row

GOOD = {"agentType": AGENT, "input": {"message": "hi"}}


@pytest.fixture
def served(clean_database: Database) -> Iterator[Served]:
    with serving(clean_database, max_body_bytes=100_000) as served:
        yield served


def seen(look: Callable[[], Any]) -> Any:
    """Wait until something is seen, for a bounded time."""
    deadline = time.monotonic() + WAIT_S
    while not (found := look()):
        assert time.monotonic() < deadline, "it is never seen"
        time.sleep(LOOK_EVERY_S)
    return found


def start(served: Served, session_id: str = "s1", **more: Any) -> httpx.Response:
    return served.client.post(f"/sessions/{session_id}/start", json=GOOD, **more)


@row("A7")
def test_a_chunked_body_is_cut_off_at_the_limit(served: Served, db: Door) -> None:
    """The client has not ended its body, and is answered all the same."""
    with served.socket() as client, db.nothing_written():
        client.sendall(
            b"POST /sessions/s1/start HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        for _ in range(5):
            client.sendall(b"6000\r\n" + b" " * 0x6000 + b"\r\n")
        answer = client.recv(4096)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert start(served).status_code == 200


@row("A7")
def test_a_long_body_is_cut_off_at_the_limit(served: Served) -> None:
    answer = served.client.post("/sessions/s1/start", content=b" " * 100_001)
    assert (answer.status_code, answer.json()["code"]) == (413, "INVALID_REQUEST")
    body = json.dumps(GOOD).encode()
    answer = served.client.post("/sessions/s1/start", content=body + b" " * (100_000 - len(body)))
    assert answer.status_code == 200


def test_a_slash_in_an_id_survives_a_real_server(served: Served) -> None:
    assert start(served, "a%2Fb%20c").json()["sessionId"] == "a/b c"
    assert served.client.get("/sessions/a%2Fb%20c/status").json()["sessionId"] == "a/b c"


def read_all(served: Served, into: list[Event]) -> None:
    with served.client.stream("GET", "/sessions/s1/sse") as answer:
        text = b""
        for piece in answer.iter_raw():
            text += piece
            whole, end, rest = text.rpartition(b"\n\n")
            into.extend(parsed(whole + end))
            text = rest


@row("W5")
def test_a_stream_is_read_as_it_comes(served: Served, db: Door) -> None:
    start(served)
    drive = db.drive(db.row("select * from lockgate_store.runs").run_id)
    events: list[Event] = []
    reader = threading.Thread(target=read_all, args=[served, events])
    reader.start()
    for number in range(3):
        drive.append(str(number))
        seen(lambda: [e for e in events if e.name == "chunk"][number:])  # noqa: B023
    drive.finish()
    reader.join(WAIT_S)
    assert [e.name for e in events if e.name != "caught-up"] == ["chunk"] * 3 + ["end"]


@case(38)
@row("E27")
def test_clients_that_drop_stop_nothing(served: Served, db: Door) -> None:
    """Each session is untouched or has a whole run, and no connection is left in a transaction."""
    request = (
        b"POST /sessions/s%d/start HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n"
        + json.dumps(GOOD).encode()
    )
    for number in range(30):
        with served.socket() as client:
            text = request % (number, len(json.dumps(GOOD)))
            client.sendall(text[: len(text) - (number % 3 == 0)])
    whole = {f"s{number}" for number in range(30) if number % 3}
    seen(
        lambda: (
            whole
            == {r.session_id for r in db.rows("select session_id from lockgate_store.sessions")}
        )
    )
    runs = db.rows("select * from lockgate_store.runs")
    assert len(runs) == len(whole)
    assert {(run.status, run.stop_kind) for run in runs} == {("running", None)}
    assert start(served, "after").status_code == 200
    seen(
        lambda: (
            not db.rows(
                "select from pg_stat_activity"
                " where application_name = 'lockgate' and state <> 'idle'"
            )
        )
    )


@row("W12")
def test_a_server_that_drains_leaves_at_once(clean_database: Database, db: Door) -> None:
    events: list[Event] = []
    with serving(clean_database) as served:
        start(served)
        reader = threading.Thread(target=read_all, args=[served, events])
        reader.start()
        seen(lambda: events)
        served.server.should_exit = True
        reader.join(WAIT_S)
    assert [event.name for event in events] == ["caught-up", "fail"]
    assert events[-1].data["recoverable"] is True
    assert db.row("select * from lockgate_store.runs").stop_kind is None


@case(33)
@row("W11")
def test_a_server_that_is_cut_down_sends_no_terminal_event(
    clean_database: Database, db: Door
) -> None:
    events: list[Event] = []
    with serving(clean_database) as served:
        served.server.drains = False
        served.server.config.timeout_graceful_shutdown = 0
        start(served)

        def read() -> None:
            with pytest.raises(httpx.RemoteProtocolError):
                read_all(served, events)

        reader = threading.Thread(target=read)
        reader.start()
        seen(lambda: events)
        served.server.should_exit = True
        reader.join(WAIT_S)
    assert [event.name for event in events] == ["caught-up"]
