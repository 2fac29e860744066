"""The shapes of a session's history, as the store keeps it and as a client sees it.

A message is a role and a list of parts. The store's rows are read here and never written here:
what becomes a row is decided by the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Required, TypeAlias, TypedDict, cast

from lockgate.errors import EntryRefused, RuleBroken
from lockgate.labels import ROLES, known
from lockgate.strict_json import JsonValue

Role: TypeAlias = Literal["user", "assistant", "tool"]


class Part(TypedDict, total=False):
    """One part of a message; `type` says which of the other fields there are.

    text         text
    file         mediaType, url, filename?
    thinking     text
    tool_call    toolCallId, toolName, input
    tool_result  toolCallId, toolName, success, result or error, reason?, code?
    output       output: the structured value that ended the run
    """

    type: Required[Literal["text", "file", "thinking", "tool_call", "tool_result", "output"]]
    text: str
    mediaType: str
    url: str
    filename: str
    toolCallId: str
    toolName: str
    input: Any
    success: bool
    result: JsonValue
    error: JsonValue
    reason: str
    code: str
    output: JsonValue


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a history. `step` is 0 for an entry's own messages."""

    role: Role
    content: Sequence[Part]
    run_id: str = ""
    step: int = 0
    seq: int = 0
    client_id: str | None = None

    def text(self) -> str:
        """Return the text of the message, its parts joined."""
        return "".join(part["text"] for part in self.content if part["type"] == "text")


# What a part of each type must have: texts, and beside them values of any kind.
_TEXTS: Mapping[str, tuple[str, ...]] = {
    "text": ("text",),
    "file": ("mediaType", "url"),
    "thinking": ("text",),
    "tool_call": ("toolCallId", "toolName"),
    "tool_result": ("toolCallId", "toolName"),
    "output": (),
}
_VALUES: Mapping[str, str] = {"tool_call": "input", "tool_result": "success", "output": "output"}


def read_history(rows: Sequence[Mapping[str, Any]], message_count: int) -> list[Message]:
    """Read the rows that a rule returned as `messages`, all that the session counts.

    Errors  EntryRefused state_history_incomplete when there are fewer or more; RuleBroken for a
            row that nobody understands, LG004 for its role and LG005 for its content
    """
    if len(rows) != message_count:
        raise EntryRefused("state_history_incomplete")
    return [
        Message(
            role=cast("Role", known(row["role"], ROLES)),
            content=_read_content(row["content"], row["seq"]),
            run_id=row["runId"],
            step=row["step"],
            seq=row["seq"],
            client_id=row.get("clientId"),
        )
        for row in rows
    ]


def _read_content(content: Any, seq: int) -> Sequence[Part]:
    if isinstance(content, list) and all(_is_part(part) for part in content):
        return cast("Sequence[Part]", content)
    raise RuleBroken("LG005", {"seq": seq})


def _is_part(part: Any) -> bool:
    kind = part.get("type") if isinstance(part, dict) else None
    return (
        isinstance(kind, str)
        and kind in _TEXTS
        and all(isinstance(part.get(name), str) for name in _TEXTS[kind])
        and (kind not in _VALUES or _VALUES[kind] in part)
    )


def assistant_message(
    run_id: str, step: int, content: Sequence[Part], calls: Iterable[Mapping[str, Any]]
) -> Message:
    """Join a reply and its calls, as their rule stored them, to the message of that step."""
    named = ("toolCallId", "toolName", "input")
    parts = [{"type": "tool_call", **{name: call[name] for name in named}} for call in calls]
    return Message("assistant", [*content, *cast("list[Part]", parts)], run_id, step)


def result_part(call: Mapping[str, Any]) -> Part:
    """Return an answered call's result as a part of history."""
    named = {"toolCallId": call["toolCallId"], "toolName": call["toolName"]}
    return cast("Part", {"type": "tool_result", **named, **call["response"]})


def output_of(message: Message) -> JsonValue:
    """Return what a run's last reply amounts to: its structured output, or else what it says."""
    for part in message.content:
        if part["type"] == "output":
            return part["output"]
    return message.text() or None


def ui_messages(
    history: Sequence[Message], open_calls: Sequence[Mapping[str, Any]] = ()
) -> list[dict[str, Any]]:
    """Show a history as UI messages: one per user message, and one per run for its replies.

    Results are merged into the part of their call; `open_calls` are calls of the current run whose
    results are in no message yet. A run's message id is `msg_` and its run id, as on the stream.
    """
    shown: list[dict[str, Any]] = []
    calls: dict[str, dict[str, Any]] = {}
    for message in history:
        if message.role == "user":
            shown.append(_ui_user_message(message))
        elif message.role == "assistant":
            message_id = f"msg_{message.run_id}"
            if not shown or shown[-1]["id"] != message_id:
                shown.append({"id": message_id, "role": "assistant", "parts": []})
            shown[-1]["parts"].append({"type": "step-start"})
            for part in message.content:
                ui_part = _ui_part(part)
                shown[-1]["parts"].append(ui_part)
                if part["type"] == "tool_call":
                    calls[part["toolCallId"]] = ui_part
        else:
            for part in message.content:
                _show_result(calls.get(part["toolCallId"]), part)
    for call in open_calls:
        if "response" in call:
            _show_result(calls.get(call["toolCallId"]), call["response"])
    return shown


def _ui_user_message(message: Message) -> dict[str, Any]:
    return {
        "id": message.client_id or f"msg_{message.run_id}_{message.seq}",
        "role": "user",
        "parts": [dict(part) for part in message.content],
    }


def _ui_part(part: Part) -> dict[str, Any]:
    match part["type"]:
        case "thinking":
            return {"type": "reasoning", "text": part["text"]}
        case "tool_call":
            return {
                "type": "dynamic-tool",
                "toolCallId": part["toolCallId"],
                "toolName": part["toolName"],
                "state": "input-available",
                "input": part["input"],
            }
        case "output":
            return {"type": "data-output", "data": part["output"]}
        case _:
            return dict(part)


def _show_result(call: dict[str, Any] | None, response: Mapping[str, Any]) -> None:
    if call is None:
        return
    if response["success"]:
        call.update(state="output-available", output=response.get("result"))
    else:
        call.update(state="output-error", errorText=str(response.get("error", "")))
