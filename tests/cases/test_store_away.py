"""The database is held, or away: typed, nothing written, and service comes back by itself."""

import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lockgate_ops.embedded import EmbeddedPostgres, temporary_postgres
from tests.cases.conftest import Pair, wait_less
from tests.support.clients import Client, Reader, at_once, clients_of, terminal, text_of
from tests.support.cluster import FAST, Database, install
from tests.support.rounds import rounds
from tests.support.scene import Scene, scene_of
from tests.support.seen import seen

BOUND_MS = 500


def test_an_entry_waits_for_a_held_session_at_most_its_bound(scene: Scene) -> None:
    options = {"concurrent_entry_timeout_ms": BOUND_MS}
    server = scene.crew.server("A", options=options)
    with clients_of(server.ready()) as (client,):
        client.started("s1", {"say": "Hello."})
        client.settled("s1")
        before = scene.stored()
        with closing(scene.database.connect(autocommit=False)) as psql:
            psql.execute("select from lockgate_store.sessions for no key update")
            began = time.monotonic()
            answer = client.start("s1", {"say": "Again."}, key="k1")
            waited_s = time.monotonic() - began
            psql.rollback()
        assert scene.stored() == before
        assert BOUND_MS / 1000 <= waited_s < BOUND_MS / 1000 + 2
        body = answer.json()
        assert (answer.status_code, body["code"], body["retryable"]) == (
            503,
            "framework_store_unavailable",
            True,
        )
        assert client.started("s1", {"say": "Again."}, key="k1")["status"] == "started"
        assert client.settled("s1")["turn"] == 2
        scene.crew.close()


@rounds(20, 100)
def test_a_first_run_wins_over_a_failure_that_is_recorded_meanwhile(
    pair: Pair, rounds: int
) -> None:
    """Two processes say that the session never ran, while it is started."""
    detail = '{"message": "The session never had a run", "code": "framework_internal_error"}'

    def fail(session_id: str) -> str:
        with pair.scene.database.connect() as connection:
            query = "select outcome::text from lockgate.fail_session_without_run(%s, %s)"
            row = connection.execute(query.encode(), [session_id, detail]).fetchone()
            assert row is not None
            return str(row[0])

    outcomes = set()
    for number in range(rounds):
        session_id = f"s{number}"
        pair.a.http.post("/sessions", json={"agentType": "scripted", "sessionId": session_id})
        first, second, status = at_once(
            [
                lambda: fail(session_id),  # noqa: B023 - called at once.
                lambda: fail(session_id),  # noqa: B023
                lambda: str(pair.b.start(session_id, {"say": "Hello."}).status_code),  # noqa: B023
            ]
        )
        outcomes |= {first, second}
        assert status == "200"
        end = pair.a.settled(session_id)
        assert (end["status"], end["output"], "error" in end) == ("completed", "Hello.", False)
        assert pair.runs(session_id) == 1
    settled = pair.door.rows("select distinct status from lockgate_store.settlements")
    assert [row.status for row in settled] == ["completed"]
    assert outcomes <= {"failed", "unchanged", "has_run"}


@pytest.fixture
def server() -> Iterator[EmbeddedPostgres]:
    """A server of one's own, which may be stopped."""
    with temporary_postgres(settings=FAST) as server:
        install(server.url)
        yield server


def test_answers_come_again_by_themselves_when_the_database_does(
    server: EmbeddedPostgres, tmp_path: Path
) -> None:
    with scene_of(Database("postgres", server.url), tmp_path) as scene:
        front = scene.crew.server("A", "--no-worker", prepare=wait_less)
        members = (front, scene.crew.server("B", prepare=wait_less))
        with clients_of(*(member.ready() for member in members)) as (a, b):
            a.started("s1", {"say": "Before @hold:away and after."})
            scene.stage.seen("waits", gate="away")
            readers = [Reader(client, "s1") for client in (a, b)]
            for reader in readers:
                reader.seen(1)
            server.stop()
            for answer in at_once([partial(refused, client) for client in (a, b)]):
                assert answer == [(503, "framework_store_unavailable", True), 503, 200]
            scene.stage.open("away")
            server.start()
            scene.look_again()
            for client in (a, b):
                seen(lambda: client.http.get("/readyz").status_code == 200)  # noqa: B023
            assert a.started("s2", {"say": "Hello."}, key="k1")["status"] == "started"
            assert a.settled("s2")["output"] == "Hello."
            assert a.settled("s1")["output"] == "Before and after."
            for reader in readers:
                assert whole_text(reader) == "Before and after."
            scene.crew.close()


def refused(client: Client) -> list[Any]:
    """Ask a server whose database is away."""
    answer = client.start("s2", {"say": "Hello."}, key="k1")
    body = answer.json()
    ready, alive = (client.http.get(path).status_code for path in ("/readyz", "/healthz"))
    return [(answer.status_code, body["code"], body["retryable"]), ready, alive]


def whole_text(reader: Reader) -> str:
    """Read on from where a stream broke off; only a terminal event is its end."""
    events = reader.ended()
    if not terminal(events):
        cursor = reader.named("chunk")[-1].id
        events = [*events, *reader.client.events("s1", last_id=cursor)]
    assert [event.name for event in terminal(events)] == ["end"]
    return text_of(events)
