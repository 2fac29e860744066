"""Answers to pending calls as values: how they are spelled, and what is none."""

import math
from typing import Any

import pytest

from lockgate import ApprovalResponse, ClientToolError, ClientToolResult, EntryRefused, ToolAnswer
from lockgate.client_answers import answer_text, parse_answer
from lockgate.strict_json import loads_stored

SPELLED: list[tuple[ToolAnswer, dict[str, Any]]] = [
    (ClientToolResult(None), {"kind": "client-tool-result", "result": None}),
    (ClientToolResult({"a": [0]}), {"kind": "client-tool-result", "result": {"a": [0]}}),
    (ClientToolError("no camera"), {"kind": "client-tool-result", "error": "no camera"}),
    (
        ApprovalResponse("a1", False),
        {"kind": "approval-response", "approvalId": "a1", "approved": False},
    ),
    (
        ApprovalResponse("a1", True, "I looked."),
        {
            "kind": "approval-response",
            "approvalId": "a1",
            "approved": True,
            "reason": "I looked.",
        },
    ),
]


@pytest.mark.parametrize(("answer", "wire"), SPELLED)
def test_each_is_spelled_and_read_as_the_wire_has_it(
    answer: ToolAnswer, wire: dict[str, Any]
) -> None:
    assert answer.wire() == wire
    assert parse_answer(wire) == parse_answer(answer) == answer
    assert loads_stored(answer_text("call-1", answer)) == wire


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"kind": "client-tool-result"},
        {"kind": "client-tool-result", "result": 1, "error": "e"},
        {"kind": "client-tool-result", "error": None},
        {"kind": "client-tool-result", "result": 1, "toolCallId": "c"},
        {"kind": "approval-response", "approvalId": "a", "approved": "yes"},
        {"kind": "approval-response", "approvalId": "a", "approved": True, "reason": 5},
        {"kind": "approval-response", "approvalId": "a", "approved": True, "more": 5},
        {"kind": "approval-response", "approvalId": 5, "approved": True},
    ],
)
def test_what_is_no_answer_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(EntryRefused) as refused:
        parse_answer(given)
    assert (refused.value.code, refused.value.retryable) == ("invalid_payload", False)


@pytest.mark.parametrize(
    ("tool_call_id", "answer", "field"),
    [
        ("", ClientToolResult(1), "toolCallId"),
        ("c" * 257, ClientToolResult(1), "toolCallId"),
        ("c", ClientToolError("€" * 2_731), "error"),
        ("c", ClientToolResult(math.nan), "result"),
        ("c", ClientToolResult(object()), "result"),  # type: ignore[arg-type]
        ("c", ClientToolResult({"a": "x\x00y"}), "result.a"),
        ("c", ClientToolResult(["\ud83d"]), "result[0]"),
        ("c", ApprovalResponse("a", True, "\x00"), "reason"),
    ],
)
def test_what_cannot_be_stored_is_refused_and_named(
    tool_call_id: str, answer: ToolAnswer, field: str
) -> None:
    with pytest.raises(EntryRefused) as refused:
        answer_text(tool_call_id, answer)
    assert (refused.value.code, refused.value.field) == ("invalid_payload", field)
