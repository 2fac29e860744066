"""S37: old prompts come back to life on replay."""

import pytest

from tests.cases.conftest import Pair
from tests.support.proves import case
from tests.support.scene import call


@case(37)
@pytest.mark.parametrize(
    ("asked", "announced", "answer"),
    [
        (call("pick"), "tool_start", {"result": "red"}),
        (call("pay", amount=10, to="A"), "tool_approval_request", {"approved": True}),
    ],
)
def test_a_prompt_that_was_answered_is_none(
    pair: Pair, asked: dict[str, object], announced: str, answer: dict[str, object]
) -> None:
    pair.a.started("s1", {"calls": [asked]}, {"say": "Done."})
    (prompt,) = pair.a.pending("s1")
    pair.a.submit("s1", prompt, **answer)
    pair.a.settled("s1")
    pair.a.started("s1", "again")
    pair.a.settled("s1")
    chunks = [event.chunk for event in pair.b.events("s1") if event.name == "chunk"]
    types = [c["type"] for c in chunks if c.get("toolCallId") == prompt["toolCallId"]]
    assert types.index(announced) < types.index("tool_end")
    assert pair.b.snapshot("s1")["pending"] == []
    before = pair.scene.stored()
    late = pair.b.submit("s1", prompt, **answer)
    assert (late.status_code, late.json()["status"]) == (200, "already_completed")
    assert pair.scene.stored() == before
