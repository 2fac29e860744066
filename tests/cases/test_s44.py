"""S44: a lone surrogate freezes the session. Left: a client tool's result."""

import json

from tests.cases.conftest import Pair
from tests.support.clients import text_of
from tests.support.proves import case
from tests.support.scene import call

WHOLE = '{"agentType":"scripted","input":{"message":"hi"}}'


@case(44)
def test_half_a_pair_in_a_body_is_refused_by_the_name_of_its_place(split: Pair) -> None:
    for half in ("\\ud83d", "\\udc88", "a\\ud83d b"):
        body = WHOLE.replace("hi", half)
        answer = split.a.http.post("/sessions/s1/start", content=body.encode())
        assert (answer.status_code, answer.json()["code"]) == (400, "validation_error")
        assert answer.json()["field"] == "input.message"
    assert split.runs("s1") == 0
    whole = WHOLE.replace("hi", "\\ud83d\\ude00").encode()
    assert split.a.http.post("/sessions/s1/start", content=whole).status_code == 200
    split.a.settled("s1")
    assert split.inputs("s1") == ["😀"]


@case(44)
def test_a_pair_that_comes_in_two_deltas_is_whole_and_half_a_pair_is_one_character(
    split: Pair,
) -> None:
    split.a.started(
        "s1",
        {"calls": [call("odd", kind="surrogate")]},
        {"say": r"smile @raw:\ud83d @raw:\ude00 and @raw:\ud83d half @raw:\udc88 end"},
    )
    expected = "smile 😀and \ufffdhalf \ufffdend"
    assert split.a.settled("s1")["output"] == expected
    assert text_of(list(split.b.events("s1"))) == expected
    snapshot = split.b.snapshot("s1")
    assert expected in json.dumps(snapshot, ensure_ascii=False)
    assert "half \ufffd of it" in json.dumps(snapshot, ensure_ascii=False)
    split.b.started("s1", {"say": "It goes on."})
    assert split.b.settled("s1")["output"] == "It goes on."
