"""S45: NaN and Infinity from tools, and from clients that submit them."""

import json
from typing import NoReturn

from tests.cases.conftest import Pair
from tests.support.proves import case
from tests.support.scene import call

BODY = '{"agentType":"scripted","input":{"message":"hi","state":{"result":WORD}}}'


def strict(text: str | bytes) -> object:
    """Parse JSON as a browser does."""

    def refuse(word: str) -> NoReturn:
        raise AssertionError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


@case(45)
def test_an_odd_number_costs_one_value_and_not_the_run(split: Pair) -> None:
    split.a.started("s1", {"calls": [call("odd", kind="numbers")]}, {"say": "Done."})
    assert split.a.settled("s1")["output"] == "Done."
    snapshot = split.a.http.get("/sessions/s1/snapshot").content
    (answer,) = (m for m in strict(snapshot)["messages"] if m["role"] == "assistant")  # type: ignore[index]
    (shown,) = (part for part in answer["parts"] if part["type"] == "dynamic-tool")
    assert shown["output"] == {"score": None, "ok": 1, "big": None}
    for line in split.a.bytes("s1").decode().split("\n"):
        if line.startswith("data: "):
            strict(line.removeprefix("data: "))


@case(45)
def test_an_odd_number_in_a_body_is_refused(split: Pair) -> None:
    for word in ("NaN", "Infinity", "-Infinity", "1e400"):
        body = BODY.replace("WORD", word)
        answer = split.a.http.post("/sessions/s1/start", content=body.encode())
        assert (answer.status_code, answer.json()["code"]) == (400, "validation_error"), word
        strict(answer.content)
    assert split.runs("s1") == 0


@case(45)
def test_an_odd_number_in_an_answer_is_refused_and_the_call_stays_pending(split: Pair) -> None:
    split.a.started("s1", {"calls": [call("pick")]}, {"say": "Done."})
    (pick,) = split.a.pending("s1")
    before = split.scene.stored()
    for word in ("NaN", "Infinity", "-Infinity", "1e400"):
        body = (
            f'{{"kind":"client-tool-result","toolCallId":"{pick["toolCallId"]}","result":{word}}}'
        )
        answer = split.a.http.post("/sessions/s1/submit-tool-result", content=body.encode())
        assert (answer.status_code, answer.json()["code"]) == (400, "validation_error"), word
        strict(answer.content)
    assert split.scene.stored() == before
    assert split.a.submit("s1", pick, result={"ok": 1}).json()["status"] == "accepted"
    assert split.a.settled("s1")["output"] == "Done."
