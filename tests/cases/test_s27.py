"""S27: engine state runs ahead of the store. The first write of a tool's result fails."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cases.conftest import Pair
from tests.support.clients import clients_of
from tests.support.fault_proxy import Fault, Proxy
from tests.support.proves import case
from tests.support.scene import Scene, call

TURNS: tuple[dict[str, Any], ...] = ({"calls": [call("add", a=5, b=0)]}, {"say": "It is five."})
DISK_FULL = "53100"


@pytest.fixture
def pair(scene: Scene, proxy: Proxy) -> Iterator[Pair]:
    """A drives, over the proxy; B answers only."""
    members = (scene.crew.server("A", url=proxy.url), scene.crew.server("B", "--no-worker"))
    with clients_of(*(member.ready() for member in members)) as (a, b):
        scene.listened_to(1)
        yield Pair(a, b, members, scene)
        scene.crew.close()


def holds_what_the_model_was_given(pair: Pair, run_id: str) -> None:
    """Hold that the call and its result are in history, and were the model's next input."""
    user, reply, result, answer = pair.door.messages("s1")
    assert [message.role for message in (user, reply, result, answer)] == [
        *("user", "assistant", "tool", "assistant")
    ]
    ((asked,), (told,)) = (reply.content, result.content)
    assert (told["toolCallId"], told["result"]) == (asked["toolCallId"], 5)
    last = pair.stage.notes("model", run=run_id, step=2)[-1]
    assert last["given"] == [[each.role, each.content] for each in (user, reply, result)]


@case(27)
def test_a_result_that_was_not_saved_at_first_is_saved_before_the_run_goes_on(
    pair: Pair, proxy: Proxy
) -> None:
    fault = proxy.put(Fault("refuse", (b"lockgate.commit_result(",), DISK_FULL))
    run_id = pair.a.started("s1", *TURNS)["runId"]
    fault.seen()

    assert pair.a.settled("s1")["output"] == "It is five."
    assert len(pair.stage.notes("tool", name="add")) == 1
    assert pair.models(run_id) == 2
    holds_what_the_model_was_given(pair, run_id)


@case(27)
def test_a_result_that_was_never_saved_is_no_ones_to_go_on_from(pair: Pair, proxy: Proxy) -> None:
    fault = proxy.put(Fault("refuse", (b"lockgate.commit_result(",), DISK_FULL, lasts=True))
    run_id = pair.a.started("s1", *TURNS)["runId"]
    fault.seen()
    pair.members[0].kill()
    pair.scene.crew.worker("C").ready()

    assert pair.b.settled("s1")["output"] == "It is five."
    notes = pair.stage.notes("tool", name="add")
    assert {note["dedupe"] for note in notes} == {f"{run_id}:1:1"}
    assert len({note["pid"] for note in notes}) == 2
    assert [note["step"] for note in pair.stage.notes("model", run=run_id)] == [1, 2]
    holds_what_the_model_was_given(pair, run_id)
