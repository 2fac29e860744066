"""S38: losing the viewer is not a stop. Left: /chat.

Both servers have a pool of three, and a middleware that cancels a request whose client has gone.
"""

import asyncio
import json
import random
import socket
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import lockgate_ops.serve
from tests.cases.conftest import Pair
from tests.support.clients import Client, at_once, clients_of, terminal, text_of
from tests.support.proves import case
from tests.support.rounds import rounds
from tests.support.scene import Scene, call, script
from tests.support.seen import seen
from tests.support.stage import Stage

HELLO = {"say": "Hello."}
PICKS = ({"calls": [call("pick")]}, HELLO)
STARTED = {"agentType": "scripted", "input": {"message": script(HELLO)}}
POOL_SIZE = 3
OPEN = (
    "select from pg_stat_activity where datname = current_database()"
    " and application_name = 'lockgate' and starts_with(state, 'idle in')"
    " and state_change < clock_timestamp() - interval '1 s'"
)
WAITING = (
    "select from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'lockgate'"
)
RESET_ON_CLOSE = b"\1\0\0\0\0\0\0\0"


def cancel_who_has_gone(folder: Path) -> None:
    """Put the middleware in front of the application that the command serves."""
    config: Any = lockgate_ops.serve._uvicorn_config

    def with_middleware(app: Any, settings: Any) -> Any:
        return config(cancelling(app, Stage(folder)), settings)

    lockgate_ops.serve._uvicorn_config = with_middleware


def cancelling(app: Any, stage: Stage) -> Callable[..., Any]:
    async def call_app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        said: asyncio.Queue[Any] = asyncio.Queue()
        answering = asyncio.ensure_future(app(scope, said.get, send))

        async def listen() -> None:
            while (message := await receive())["type"] != "http.disconnect":
                said.put_nowait(message)
            stage.note("cancelled", path=scope["path"])
            answering.cancel()

        listening = asyncio.ensure_future(listen())
        await asyncio.wait([answering])
        listening.cancel()

    return call_app


@pytest.fixture
def pair(scene: Scene) -> Iterator[Pair]:
    given: dict[str, Any] = {
        "settings": {"pool_size": str(POOL_SIZE)},
        "prepare": partial(cancel_who_has_gone, scene.stage.folder),
    }
    members = (scene.crew.server("A", **given), scene.crew.server("B", **given))
    with clients_of(*(member.ready() for member in members)) as (a, b):
        scene.listened_to(2)
        yield Pair(a, b, members, scene)
        scene.crew.close()


def drop(client: Client, line: str, body: Any, rng: random.Random, *, whole: bool) -> None:
    """Send a part of a request, or all of it, and go at a random moment."""
    text = json.dumps(body) if body else ""
    request = f"{line} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(text)}\r\n\r\n{text}".encode()
    place = urlsplit(client.address)
    with socket.create_connection((str(place.hostname), place.port or 0), timeout=10) as link:
        if rng.random() < 0.5:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        link.sendall(request if whole else request[: rng.randrange(len(request))])
        if whole:
            time.sleep(rng.uniform(0, 0.02))  # A random moment; nothing is waited for.


@case(38)
@rounds(60, 300)
def test_a_client_that_goes_at_any_point_leaves_nothing_or_a_whole_run(
    pair: Pair, rounds: int
) -> None:
    rng = random.Random(38)
    picks = {f"pick{number}": "" for number in range(1, rounds, 3)}
    for name in picks:
        pair.a.started(name, *PICKS)
    for name in picks:
        picks[name] = pair.b.pending(name)[0]["toolCallId"]
    for number in range(rounds):
        client, whole = (pair.a, pair.b)[number % 4 // 2], number % 2 == 0 or number % 7 == 0
        if name := f"pick{number}" if number % 3 == 1 else "":
            body = {"kind": "client-tool-result", "toolCallId": picks[name], "result": "red"}
            drop(client, f"POST /sessions/{name}/submit-tool-result", body, rng, whole=whole)
        elif number % 3 == 2:
            drop(client, f"GET /sessions/s{number - 2}/sse", None, rng, whole=whole)
        else:
            drop(client, f"POST /sessions/s{number}/start", STARTED, rng, whole=whole)
        assert not pair.door.rows(OPEN), "no transaction is left open for a second"
    cancelled = {note["path"].rpartition("/")[2] for note in pair.stage.notes("cancelled")}
    assert cancelled >= {"start", "submit-tool-result", "sse"}
    each_is_untouched_or_whole(pair, [*picks], rounds)
    the_pools_are_full(pair)


def each_is_untouched_or_whole(pair: Pair, picks: list[str], rounds: int) -> None:
    busy = "select from lockgate_store.runs where status = 'running'"
    seen(lambda: not pair.door.rows(busy), "all that began has ended")
    runs = pair.door.rows("select * from lockgate_store.runs")
    assert {run.stop_kind for run in runs} == {None}, "a lost client is no stop"
    went_on = {run.session_id for run in runs if run.drive == "continue"}
    for name in {*picks} - went_on:
        (pending,) = pair.a.pending(name)
        assert pair.a.submit(name, pending, result="red").json()["status"] == "accepted"
    for name in picks:
        assert pair.b.settled(name)["output"] == "Hello.", name
        assert pair.runs(name) == 2
    started = {run.session_id for run in runs if run.session_id not in picks}
    assert started <= {f"s{number}" for number in range(0, rounds, 3)}
    assert len(went_on) > len(picks) // 4, "a client that said all of it was heard"
    assert len(started) > rounds // 12
    sessions = pair.door.rows("select session_id from lockgate_store.sessions")
    assert {row.session_id for row in sessions} == started | {*picks}
    for name in started:
        assert (pair.runs(name), pair.inputs(name)) == (1, [script(HELLO)])
        events = list(pair.a.events(name))
        assert text_of(events) == "Hello."
        assert [event.data["status"] for event in terminal(events)] == ["completed"]


def the_pools_are_full(pair: Pair) -> None:
    """Hold that each server answers more requests at a time than its pool has connections."""
    for place, client in enumerate((pair.a, pair.b)):
        names = [f"after-{place}-{number}" for number in range(2 * POOL_SIZE)]
        began = time.monotonic()
        at_once([partial(client.started, name, {"say": f"For {name}."}) for name in names])
        assert time.monotonic() - began < 20, "nobody had to wait for a lost connection"
        for name in names:
            assert client.settled(name)["output"] == f"For {name}.", "and nobody heard another's"
    seen(lambda: not pair.door.rows(OPEN), "no transaction is left open")


@case(38)
def test_a_client_that_goes_inside_the_commit_of_its_start_changes_nothing(pair: Pair) -> None:
    """The session's row is held, so that each request waits inside its transaction."""
    names = [f"held{number}" for number in range(POOL_SIZE + 1)]
    for name in names:
        pair.door.create_session(name, agent_type="scripted")
    rng = random.Random(38)
    with pair.scene.database.connect(autocommit=False) as holder:
        holder.execute("select from lockgate_store.sessions for no key update")
        for name in names:
            drop(pair.a, f"POST /sessions/{name}/start", STARTED, rng, whole=True)
        seen(lambda: pair.door.rows(WAITING), "one waits for its row")
        pair.stage.seen("cancelled", len(names))
        assert pair.door.rows("select from lockgate_store.runs") == []
    for name in names:
        if pair.a.start(name, HELLO).status_code == 409:
            assert pair.runs(name) == 1, "who has gone is heard all the same, once"
    for name in names:
        assert pair.b.settled(name)["output"] == "Hello."
        assert pair.inputs(name) == [script(HELLO)] * pair.runs(name)
    assert {r.stop_kind for r in pair.door.rows("select stop_kind from lockgate_store.runs")} == {
        None
    }
    the_pools_are_full(pair)


@case(38)
def test_a_reader_that_goes_stops_nothing(pair: Pair) -> None:
    pair.a.started("s1", {"say": "First @hold:end last."})
    pair.stage.seen("waits", gate="end")
    for client in (pair.a, pair.b) * 5:
        stream = client.events("s1")
        next(stream)
        stream.close()
    pair.stage.open("end")
    assert pair.a.settled("s1")["output"] == "First last."
    assert pair.door.row("select stop_kind from lockgate_store.runs").stop_kind is None
