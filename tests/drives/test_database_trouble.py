"""Backends that are ended, connections that are exhausted, timeouts of a role: all typed, all heal.

The processes are those of an ordinary role, whose limits the tests set while it works.
"""

import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.app_role import App, app_of_an_ordinary_role
from tests.support.clients import Client, Reader, at_once, clients_of, terminal, text_of
from tests.support.crew import Member
from tests.support.invariants import violations
from tests.support.scene import Scene, call, scene_of
from tests.support.seen import seen
from tests.support.store import emptied
from tests.support.weather import AWAY, answer_sooner, beating

HELLO = {"say": "Hello."}
SAID = "word by word " * 12 + "to the end."
PACED = {"say": f"@pace:0.02 {SAID}"}
KNOWN = {200, 503}
TOLD_WITHIN_S = 25.0  # far above all bounds of one call, and below what a client waits


@pytest.fixture(scope="module")
def app() -> Iterator[App]:
    with app_of_an_ordinary_role() as app:
        yield app


@pytest.fixture
def scene(app: App, tmp_path: Path) -> Iterator[Scene]:
    with scene_of(app.database, tmp_path) as scene:
        yield scene
        scene.crew.close()
        assert emptied(scene.door.connection)


def both(scene: Scene, app: App, **more: Any) -> tuple[Member, Member]:
    """Start a server that only answers, and one that drives."""
    given = {"url": app.url, "prepare": answer_sooner, **more}
    return scene.crew.server("A", "--no-worker", **given), scene.crew.server("B", **given)


def told(answer: Any) -> Any:
    body = answer.json()
    return answer.status_code, body["code"], body["retryable"]


def taken(client: Client, session_id: str, turn: Any = HELLO) -> dict[str, Any]:
    """Ask under one key until it is taken; each answer before that is typed."""

    def ask() -> dict[str, Any]:
        began = time.monotonic()
        answer = client.start(session_id, turn, key="k")
        assert time.monotonic() - began < TOLD_WITHIN_S
        body: dict[str, Any] = answer.json()
        if answer.status_code == 200:
            return body
        assert body["code"] == AWAY[1], body
        return {}

    return seen(ask, f"{session_id} is taken")


def whole(client: Client, session_id: str, output: str) -> None:
    """Hold that a session's one run has completed, and left one text."""
    assert client.settled(session_id)["output"] == output
    assert text_of([*client.events(session_id)]) == output


def test_every_backend_is_ended_again_and_again(scene: Scene, app: App) -> None:
    members = both(scene, app)
    with clients_of(*(member.ready() for member in members)) as (a, b):
        names = [f"s{number}" for number in range(10)]
        for name in names[:5]:
            taken(a, name, PACED)
        reader = Reader(a, names[0])
        reader.seen(1)
        for name in names[5:]:
            scene.stage.seen("model", 1)
            assert app.terminate() > 2
            taken(b, name, PACED)
        for name in names:
            whole(a, name, SAID)
        events = reader.ended()
        assert [event.name for event in terminal(events)] == ["end"]
        assert text_of(events) == SAID
        assert violations(scene.door.connection) == []


def test_a_process_that_finds_the_server_full_says_so(scene: Scene, app: App) -> None:
    with app.limited("connection limit 0"):
        for member in both(scene, app):
            assert member.ended() == 1
            (line,) = (line for line in member.log.read_text().splitlines() if "lockgate: " in line)
            assert "too many connections" in line
            assert "app:app" not in line


def test_a_server_that_is_full_for_a_while_is_waited_for(scene: Scene, app: App) -> None:
    members = both(scene, app)
    with clients_of(*(member.ready() for member in members)) as (a, b):
        taken(a, "held", {"say": "Before @hold:full and after."})
        scene.stage.seen("waits", gate="full")
        reader = Reader(a, "held")
        reader.seen(1)
        with app.limited("connection limit 0"):
            answers = at_once([partial(each.start, "s1", HELLO, key="k") for each in (a, b) * 4])
            assert {told(answer) for answer in answers} == {AWAY}
            assert a.http.get("/readyz").status_code == 503
            scene.stage.open("full")
        seen(lambda: a.http.get("/readyz").status_code == 200)
        taken(a, "s1")
        whole(a, "s1", "Hello.")
        whole(b, "held", "Before and after.")
        assert text_of(reader.ended()) == "Before and after."
        assert violations(scene.door.connection) == []


def test_a_few_connections_are_shared_by_all(scene: Scene, app: App) -> None:
    """Fewer than the pools would like: heartbeat, LISTEN, drives, DBOS and entries get along."""
    app.set("connection limit 9")
    try:
        member = scene.crew.server("B", url=app.url, prepare=answer_sooner)
        with clients_of(member.ready()) as (client,):
            names = [f"s{number}" for number in range(20)]
            at_once([partial(taken, client, name, PACED) for name in names])
            for name in names:
                whole(client, name, SAID)
    finally:
        app.set("connection limit -1")
    assert violations(scene.door.connection) == []


@pytest.mark.parametrize("size", ["1", "2"])
def test_a_full_pool_is_typed_and_stops_nobody(scene: Scene, app: App, size: str) -> None:
    member = scene.crew.server(
        "B",
        url=app.url,
        prepare=answer_sooner,
        settings={"pool_size": size},
        options={"concurrent_entry_timeout_ms": 500},  # or who has a link waits for its session
    )
    with clients_of(member.ready()) as (client,):
        taken(client, "held", {"say": "Before @hold:full and after."})
        scene.stage.seen("waits", gate="full")
        reader = Reader(client, "held")
        reader.seen(1)
        names = [f"s{number}" for number in range(30)]
        at_once([partial(taken, client, name) for name in names])
        with closing(scene.database.connect(autocommit=False)) as psql:
            psql.execute("select from lockgate_store.sessions for no key update")
            answers = at_once([partial(client.start, name, HELLO, key="l") for name in names[:6]])
            psql.rollback()
        assert {answer.status_code for answer in answers} <= KNOWN
        assert AWAY in {told(answer) for answer in answers if answer.status_code == 503}
        scene.stage.open("full")
        for name in names:
            assert client.settled(name)["output"] == "Hello."
        whole(client, "held", "Before and after.")
        assert text_of(reader.ended()) == "Before and after."
        assert violations(scene.door.connection) == []


def test_dboss_tables_are_locked_and_what_needs_none_of_them_is_answered(
    scene: Scene, app: App
) -> None:
    members = both(scene, app, options={"concurrent_entry_timeout_ms": 500})
    with clients_of(*(member.ready() for member in members)) as (a, b):
        names = scene.door.rows("select worker_id from lockgate_store.workers")
        taken(a, "held", {"say": "Before @hold:dbos and after."})
        scene.stage.seen("waits", gate="dbos")
        with closing(scene.database.connect(autocommit=False)) as psql:
            psql.execute("lock table dbos.workflow_status in access exclusive mode")
            for client in (a, b):
                assert client.http.get("/readyz").status_code == 200
                assert client.status("held")["status"] == "active"
                assert told(client.start("s1", HELLO, key="k")) == AWAY
            scene.stage.open("dbos")
            beating(scene.door, [names[-1].worker_id])
            psql.rollback()
        taken(a, "s1")
        whole(a, "s1", "Hello.")
        whole(b, "held", "Before and after.")
        assert violations(scene.door.connection) == []


# What is set, and what the server then says in its log.
TIMEOUTS = {
    "statement": ("statement_timeout", "canceling statement due to statement timeout"),
    "lock": ("lock_timeout", "canceling statement due to lock timeout"),
    "idle in transaction": (
        "idle_in_transaction_session_timeout",
        "terminating connection due to idle-in-transaction timeout",
    ),
    "transaction": ("transaction_timeout", "terminating connection due to transaction timeout"),
}


@pytest.mark.parametrize("kind", TIMEOUTS)
def test_a_timeout_of_the_role_is_weather(scene: Scene, app: App, kind: str) -> None:
    """It hits claims, commits, sweeps, beats, DBOS and entries; without it all go on."""
    members = both(scene, app, options={"concurrent_entry_timeout_ms": 500})
    with clients_of(*(member.ready() for member in members)) as (a, b):
        names = [f"s{number}" for number in range(8)]
        for name in names[:4]:
            taken(a, name, {"calls": [call("hold", gate="timeout")]})
        scene.stage.seen("waits", 4, gate="timeout")
        setting, said = TIMEOUTS[kind]
        before = app.logged(said)
        # Ours are one statement each, and never idle inside: so only DBOS's can be hit by that.
        hits = 3 if kind == "idle in transaction" else 20
        with (
            closing(scene.database.connect(autocommit=False)) as psql,
            app.limited(f"set {setting} = '1ms'"),
        ):
            if kind == "lock":
                psql.execute("select from lockgate_store.sessions for update")
                psql.execute("lock table lockgate_store.workers, dbos.workflow_status")
            scene.stage.open("timeout")

            def hits_on() -> bool:
                scene.wake()  # It is to hit those who look at the queue, too.
                return bool(app.logged(said) > before + hits)

            seen(hits_on, "it hits again and again")
            for name in names[4:]:
                for client in (a, b):
                    answer = client.start(name, HELLO, key="k")
                    assert answer.status_code == 200 or told(answer) == AWAY, answer.text
            psql.rollback()
        for name in names[4:]:
            taken(b, name)
        for name in names:
            assert a.settled(name)["status"] == "completed", a.status(name)
        assert violations(scene.door.connection) == []


def test_a_session_that_is_held_is_handed_over_and_not_lost(scene: Scene, app: App) -> None:
    """Where the role waits for no lock, a commit of the drive cannot be made for a while."""
    members = both(scene, app)
    with (
        clients_of(*(member.ready() for member in members)) as (a, _),
        app.limited("set lock_timeout = '50ms'"),
    ):
        taken(a, "s1", {"calls": [call("hold", gate="held")]})
        scene.stage.seen("waits", gate="held")
        with closing(scene.database.connect(autocommit=False)) as psql:
            psql.execute("select from lockgate_store.sessions for update")
            psql.execute("select from lockgate_store.streams for update")
            scene.stage.open("held")
            seen(lambda: "drive.raised" in members[1].log.read_text(), "the drive gives up")
            psql.rollback()
        assert a.settled("s1")["status"] == "completed"
        assert violations(scene.door.connection) == []
