"""S25: a NUL character destroys a finished run. Left: a client tool's result."""

import json
from typing import Any

from tests.cases.conftest import Pair
from tests.support.clients import text_of
from tests.support.proves import case
from tests.support.scene import call

SIX = "\\u0000"


BODIES: tuple[tuple[dict[str, Any], str], ...] = (
    ({"input": {"message": "a\0b"}}, "input.message"),
    ({"input": {"message": [{"role": "user", "content": "a\0b"}]}}, "input.message"),
    ({"input": {"message": "a", "state": {"k\0": 1}}}, "input.state"),
    ({"input": {"message": "a"}, "metadata": {"from": "\0"}}, "metadata"),
    ({"input": {"message": "a"}, "userId": "u\0"}, "userId"),
)


@case(25)
def test_a_nul_in_a_body_is_refused_by_the_name_of_its_place(split: Pair) -> None:
    for body, field in BODIES:
        content = json.dumps({"agentType": "scripted", **body}).encode()
        answer = split.a.http.post("/sessions/s1/start", content=content)
        assert (answer.status_code, answer.json()["code"]) == (400, "validation_error")
        assert answer.json()["field"].startswith(field)
    assert split.runs("s1") == 0


@case(25)
def test_a_nul_in_what_models_and_tools_say_becomes_one_character_everywhere(split: Pair) -> None:
    split.a.started(
        "s1", {"calls": [call("odd", kind="nul")]}, {"say": r"one @raw:t\x00w\x00o three"}
    )
    assert split.a.settled("s1")["output"] == "one t\ufffdw\ufffdo" + "three"
    events = list(split.a.events("s1"))
    assert text_of(events) == "one t\ufffdw\ufffdo" + "three"
    snapshot = json.dumps(split.a.snapshot("s1"), ensure_ascii=False)
    assert '{"a\ufffdb": "c\ufffdd"}' in snapshot
    (result,) = (e.chunk["result"] for e in events if e.name == "chunk" and "result" in e.chunk)
    assert result == {"a\ufffdb": "c\ufffdd"}


@case(25)
def test_a_nul_in_an_error_does_not_lose_the_error(split: Pair) -> None:
    split.a.started("s1", {"calls": [call("boom", message=f"six {SIX} plain")]}, {"say": SIX})
    assert split.a.settled("s1")["output"] == SIX
    assert "six \\\\u0000 plain" in json.dumps(split.a.snapshot("s1"))
    assert text_of(list(split.a.events("s1"))) == SIX
