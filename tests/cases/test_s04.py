"""S04: one pending call, two simultaneous submits."""

import time
from functools import partial

from tests.cases.conftest import Pair
from tests.support.clients import at_once
from tests.support.proves import case
from tests.support.scene import Turn, call

ROUNDS = 100
PICK = {"calls": [call("pick")]}


@case(4)
def test_one_answer_is_taken_and_one_run_goes_on(pair: Pair) -> None:
    turns: list[Turn] = [*[PICK] * ROUNDS, {"say": "Done."}]
    pair.a.started("s1", *turns)
    for number in range(ROUNDS):
        (pick,) = pair.a.pending("s1")
        submits = [partial(client.submit, "s1", pick, result=number) for client in (pair.a, pair.b)]
        answers = at_once(submits)
        assert {answer.status_code for answer in answers} == {200}
        said = sorted(answer.json()["status"] for answer in answers)
        assert said == ["accepted", "already_completed"]
    assert pair.a.settled("s1")["output"] == "Done."
    assert pair.runs("s1") == ROUNDS + 1
    assert len(pair.stage.notes("model")) == ROUNDS + 1
    assert _results(pair) == [*range(ROUNDS)]


@case(4)
def test_a_third_answer_does_not_wait_for_the_run_and_leaves_it_alone(pair: Pair) -> None:
    pair.a.started("s1", PICK, {"say": "One @hold:middle two."})
    (pick,) = pair.a.pending("s1")
    run_id = pair.a.submit("s1", pick, result="red").json()["runId"]
    pair.stage.seen("waits", gate="middle")
    before, began = pair.kept(), time.monotonic()
    late = pair.b.submit("s1", pick, result="blue")
    assert (late.status_code, late.json()["status"]) == (200, "already_completed")
    assert time.monotonic() - began < 1
    assert pair.kept() == before
    pair.stage.open("middle")
    status = pair.a.settled("s1")
    assert (status["runId"], status["output"]) == (run_id, "One two.")
    assert _results(pair) == ["red"]


def _results(pair: Pair) -> list[object]:
    messages = [m for m in pair.door.messages("s1") if m.role == "tool"]
    return [part["result"] for message in messages for part in message.content]
