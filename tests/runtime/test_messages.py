"""A history as it is read: whole and understood, or not at all."""

from typing import Any

import pytest

from lockgate import EntryRefused, RuleBroken
from lockgate.messages import read_history

PARTS: list[dict[str, Any]] = [
    {"type": "text", "text": "hi"},
    {"type": "file", "mediaType": "image/png", "url": "https://example.org/a.png"},
    {"type": "thinking", "text": "hm"},
    {"type": "tool_call", "toolCallId": "c1", "toolName": "add", "input": None},
    {"type": "tool_result", "toolCallId": "c1", "toolName": "add", "success": True, "result": 1},
    {"type": "output", "output": None},
]


def stored(content: Any, role: str = "user") -> dict[str, Any]:
    return {"seq": 1, "role": role, "runId": "r1", "step": 0, "content": content}


def test_every_part_that_is_written_is_read() -> None:
    (message,) = read_history([stored(PARTS, "assistant")], 1)
    assert (message.role, message.content, message.seq) == ("assistant", PARTS, 1)


@pytest.mark.parametrize(
    "content",
    [
        None,
        "hi",
        {"type": "text", "text": "hi"},
        ["hi"],
        [{}],
        [{"type": "odd"}],
        [{"type": ["text"], "text": "hi"}],
        *([{**part, name: 7}] for part in PARTS for name in ("type", "text") if name in part),
        *(
            [{name: value for name, value in part.items() if name != missing}]
            for part in PARTS
            for missing in part
            if missing != "result"
        ),
    ],
)
def test_content_that_nobody_understands_is_a_broken_promise(content: Any) -> None:
    with pytest.raises(RuleBroken) as broken:
        read_history([stored(content)], 1)
    assert (broken.value.sqlstate, broken.value.detail) == ("LG005", {"seq": 1})
    assert (broken.value.code, broken.value.retryable) == ("framework_store_corrupt", False)


def test_a_role_that_nobody_knows_is_a_broken_promise() -> None:
    with pytest.raises(RuleBroken) as broken:
        read_history([stored(PARTS, "system")], 1)
    assert (broken.value.sqlstate, broken.value.detail) == ("LG004", {"unknownLabel": "system"})


@pytest.mark.parametrize("count", [0, 2])
def test_a_history_with_a_hole_is_not_read(count: int) -> None:
    with pytest.raises(EntryRefused) as incomplete:
        read_history([stored(PARTS)], count)
    assert (incomplete.value.code, incomplete.value.retryable) == ("state_history_incomplete", True)
