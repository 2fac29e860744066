"""S09: a finished tool call runs again on retry or recovery."""

from collections.abc import Iterator

import pytest

from tests.cases.conftest import Pair
from tests.support.clients import clients_of
from tests.support.fault_proxy import Proxy
from tests.support.proves import case
from tests.support.scene import Scene, call
from tests.support.stage_agents import SCRIPTED

ADD = {"calls": [call("add", a=5, b=0)]}


@pytest.fixture
def pair(scene: Scene, proxy: Proxy) -> Iterator[Pair]:
    """A drives, over the proxy, and repeats no model call; B answers only, until A has gone."""
    members = (
        scene.crew.server("A", url=proxy.url, waits_s=()),
        scene.crew.server("B", "--no-worker"),
    )
    with clients_of(*(member.ready() for member in members)) as (a, b):
        scene.listened_to(1)
        yield Pair(a, b, members, scene)
        scene.crew.close()


def results(pair: Pair) -> list[object]:
    messages = [message for message in pair.door.messages("s1") if message.role == "tool"]
    return [part["result"] for message in messages for part in message.content]


@case(9)
def test_a_result_that_is_committed_is_not_asked_for_after_a_kill(pair: Pair) -> None:
    run_id = pair.a.started("s1", ADD, {"say": "It is @hold:middle five."})["runId"]
    pair.stage.seen("waits", gate="middle")
    pair.members[0].kill()
    pair.scene.crew.worker("C").ready()
    pair.stage.open("middle")

    assert pair.b.settled("s1")["output"] == "It is five."
    assert len(pair.stage.notes("tool", name="add")) == 1
    assert [note["step"] for note in pair.stage.notes("model", run=run_id)] == [1, 2, 2]
    assert results(pair) == [5]


@case(9)
def test_a_result_that_is_committed_is_not_asked_for_by_a_retry(pair: Pair) -> None:
    pair.a.started("s1", ADD, {"say": "It is @break:once five."})
    assert pair.a.settled("s1")["status"] == "failed"
    assert pair.a.http.post("/sessions/s1/retry", json={"agentType": SCRIPTED}).status_code == 200

    assert pair.a.settled("s1")["output"] == "It is five."
    assert len(pair.stage.notes("tool", name="add")) == 1
    assert results(pair) == [5]


@case(9)
def test_a_body_whose_result_was_lost_is_given_the_same_id_again(pair: Pair, proxy: Proxy) -> None:
    fault = proxy.arm("black_hole", b"lockgate.commit_result(")
    run_id = pair.a.started("s1", ADD, {"say": "It is five."})["runId"]
    fault.seen()
    pair.members[0].kill()
    pair.scene.crew.worker("C").ready()

    assert pair.b.settled("s1")["output"] == "It is five."
    dedupe = [note["dedupe"] for note in pair.stage.notes("tool", name="add")]
    assert dedupe == [f"{run_id}:1:1"] * 2
    assert pair.models(run_id) == 2, "the reply was saved before the body ran"
    assert results(pair) == [5]
