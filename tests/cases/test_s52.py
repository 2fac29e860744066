"""S52: retry copies the user's message."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.cases.conftest import Pair
from tests.support.clients import Client, clients_of
from tests.support.proves import case
from tests.support.scene import Scene, said

HELLO = {"say": "Hello."}


@pytest.fixture
def one_try(scene: Scene) -> Iterator[Pair]:
    """A answers, a worker drives: whatever fails once has failed."""
    worker, front = scene.crew.worker(max_attempts=1), scene.crew.server("A", "--no-worker")
    worker.ready()
    with clients_of(front.ready()) as (client,):
        scene.listened_to(1)
        yield Pair(client, client, (front, worker), scene)
        scene.crew.close()


def retry(client: Client, session_id: str, key: str | None = None, **body: Any) -> httpx.Response:
    return client.http.post(
        f"/sessions/{session_id}/retry",
        json={"agentType": "factory", **body},
        headers={} if key is None else {"X-Helix-Request-Key": key},
    )


def fail(pair: Pair, session_id: str) -> None:
    """Have a run fail in its first step, after its input was saved."""
    pair.stage.close("mended")
    pair.door.start(session_id, said(HELLO), agent_type="factory")
    pair.scene.wake()
    assert pair.a.settled(session_id)["status"] == "failed"
    pair.stage.open("mended")


@case(52)
def test_a_retry_adds_what_it_brings_and_nothing_else(one_try: Pair) -> None:
    client = one_try.a
    fail(one_try, "s1")
    before = one_try.inputs("s1")
    assert retry(client, "s1").json()["status"] == "resumed"
    assert client.settled("s1")["output"] == "Hello."
    assert one_try.inputs("s1") == before == [said(HELLO)]

    fail(one_try, "s2")
    assert retry(client, "s2", message="again").json()["status"] == "resumed"
    client.settled("s2")
    assert one_try.inputs("s2") == [said(HELLO), "again"]


@case(52)
def test_a_retry_that_is_sent_twice_is_one(one_try: Pair) -> None:
    client = one_try.a
    fail(one_try, "s1")
    first = retry(client, "s1", "k2", message="again").json()
    second = retry(client, "s1", "k2", message="again").json()
    client.settled("s1")
    third = retry(client, "s1", "k2", message="again").json()

    assert [each["status"] for each in (first, second, third)] == [
        "resumed",
        "attached",
        "attached",
    ]
    assert {each["runId"] for each in (first, second, third)} == {first["runId"]}
    assert one_try.inputs("s1") == [said(HELLO), "again"]
    assert one_try.runs("s1") == 2


@case(52)
def test_neither_recovery_nor_the_models_own_retries_add_an_input(scene: Scene) -> None:
    first = scene.crew.worker("first")
    first.ready()
    scene.listened_to(1)
    run = scene.start("s1", {"say": "@break:first Hello @hold:end there."})
    scene.stage.seen("waits", gate="end")
    scene.crew.worker("second").ready()
    first.kill()
    scene.stage.open("end")
    assert scene.settled(run).status == "completed"

    assert [m.role for m in scene.door.messages("s1")] == ["user", "assistant"]
    assert len(scene.stage.notes("model", run=run.run_id)) == 3, "broken once, killed once"
