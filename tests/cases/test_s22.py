"""S22: a refused request must leave no trace."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from tests.cases.conftest import Pair
from tests.support.clients import clients_of
from tests.support.proves import case
from tests.support.scene import Scene

HELLO = {"say": "Hello."}


@pytest.fixture
def pair(scene: Scene) -> Iterator[Pair]:
    """A and B, whose host has a before_entry."""
    members = (scene.crew.server("A", admits=True), scene.crew.server("B", admits=True))
    with clients_of(*(member.ready() for member in members)) as (a, b):
        scene.listened_to(2)
        yield Pair(a, b, members, scene)
        scene.crew.close()


@contextmanager
def without_trace(pair: Pair, *session_ids: str) -> Iterator[None]:
    """Hold that a block leaves nothing of a session, or leaves it as it was."""

    def look() -> list[Any]:
        sessions = "select * from lockgate_store.sessions where session_id = any(%s)"
        return [
            pair.door.rows(sessions, list(session_ids)),
            [(pair.runs(each), pair.inputs(each)) for each in session_ids],
            pair.door.rows(
                "select head_sequence from lockgate_store.streams where session_id = any(%s)",
                list(session_ids),
            ),
        ]

    before = look()
    yield
    assert look() == before


def refused(answer: httpx.Response, status: int, code: str) -> None:
    assert (answer.status_code, answer.json().get("code")) == (status, code), answer.text


@case(22)
def test_a_refused_request_leaves_its_key_free(pair: Pair) -> None:
    pair.a.started("s1", HELLO)
    pair.a.settled("s1")
    with without_trace(pair, "s1"):
        bad = pair.a.http.post(
            "/sessions/s1/start",
            json={"agentType": "scripted", "input": {"message": ""}},
            headers={"X-Helix-Request-Key": "k1"},
        )
        refused(bad, 400, "validation_error")
        other = pair.a.start("s1", HELLO, key="k1", agentType="short")
        refused(other, 409, "state_agent_type_mismatch")
        pair.stage.open("refuses")
        host = pair.a.start("s1", HELLO, key="k1")
        assert (host.status_code, host.json()) == (403, {"quota": 0})
        pair.stage.close("refuses")
    pair.a.started("s1", {"say": "Busy. @hold:busy"})
    with without_trace(pair, "s1"):
        refused(pair.b.start("s1", HELLO, key="k1"), 409, "state_already_running")
    pair.stage.open("busy")
    pair.a.settled("s1")
    before = len(pair.inputs("s1"))
    assert pair.b.started("s1", HELLO, key="k1")["status"] == "started"
    assert len(pair.inputs("s1")) == before + 1


@case(22)
def test_a_refused_first_request_leaves_no_session(pair: Pair) -> None:
    with without_trace(pair, "s1", "throws"):
        unknown = pair.a.start("s1", HELLO, key="k1", agentType="nobody")
        refused(unknown, 404, "framework_agent_not_found")
        for client in (pair.a, pair.b, pair.a):
            failed = client.start("s1", HELLO, key="k1", agentType="factory")
            refused(failed, 503, "framework_agent_resolution_failed")
            assert failed.json()["retryable"] is True
        refused(pair.a.start("throws", HELLO, key="k1"), 503, "framework_hook_failed")
    pair.stage.open("mended")
    assert pair.b.started("s1", HELLO, key="k1", agentType="factory")["status"] == "started"
    assert pair.b.settled("s1")["output"] == "Hello."
    assert pair.runs("s1") == len(pair.inputs("s1")) == 1
