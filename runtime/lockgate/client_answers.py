"""What a client may answer to a call that waits for it, as values, and what a submit gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias
from uuid import UUID

from lockgate.errors import EntryRefused
from lockgate.scrub import MODEL_LIMIT, scrub
from lockgate.strict_json import BadJson, JsonValue, dumps, loads_body

MAX_CALL_ID = 256  # characters: indexed text
MAX_ERROR_BYTES = 8_192  # of the error, or the reason, that the model reads


@dataclass(frozen=True, slots=True)
class ClientToolResult:
    """What a client tool gave. None, False, 0 and "" are results as any other."""

    result: JsonValue

    def wire(self) -> dict[str, Any]:
        """Return it as the rule and the wire spell it."""
        return {"kind": "client-tool-result", "result": self.result}


@dataclass(frozen=True, slots=True)
class ClientToolError:
    """Why a client gave no result; also how an approval is let go without a decision."""

    error: str

    def wire(self) -> dict[str, Any]:
        """Return it as the rule and the wire spell it, redacted: a model reads it."""
        told = scrub(self.error, MODEL_LIMIT).encode()[:MAX_ERROR_BYTES].decode(errors="ignore")
        return {"kind": "client-tool-result", "error": told}


@dataclass(frozen=True, slots=True)
class ApprovalResponse:
    """Whether a call may run. approval_id is the one it was asked under."""

    approval_id: str
    approved: bool
    reason: str | None = None

    def wire(self) -> dict[str, Any]:
        """Return it as the rule and the wire spell it."""
        given = {"approvalId": self.approval_id, "approved": self.approved}
        more = {} if self.reason is None else {"reason": self.reason}
        return {"kind": "approval-response", **given, **more}


ToolAnswer: TypeAlias = ClientToolResult | ClientToolError | ApprovalResponse


@dataclass(frozen=True, slots=True)
class Submitted:
    """What became of an answer.

    status    accepted: stored now. already_completed: an earlier answer stands, this one is dropped
    run_id    of the run that goes on, once nothing else is awaited
    approved  what stands decided of an approval
    """

    tool_call_id: str
    status: Literal["accepted", "already_completed"]
    run_id: UUID | None = None
    approved: bool | None = None


def parse_answer(answer: ToolAnswer | Mapping[str, Any]) -> ToolAnswer:
    """Return the answer that a mapping spells as the wire does; the strict union has three shapes.

    Errors  EntryRefused invalid_payload
    """
    if not isinstance(answer, Mapping):
        return answer
    match dict(answer):
        case {"kind": "client-tool-result", "result": result, **extra} if not extra:
            return ClientToolResult(result)
        case {"kind": "client-tool-result", "error": str(error), **extra} if not extra:
            return ClientToolError(error)
        case {
            "kind": "approval-response",
            "approvalId": str(given),
            "approved": bool(yes),
            **extra,
        }:
            reason = extra.pop("reason", None)
            if not extra and (reason is None or isinstance(reason, str)):
                return ApprovalResponse(given, yes, reason)
    raise EntryRefused("invalid_payload", "Not an answer to a tool call", field="answer")


def answer_text(tool_call_id: str, answer: ToolAnswer) -> str:
    """Return an answer as the JSON text that the rule takes; it holds the rule to its limits too.

    Errors  EntryRefused invalid_payload, which names the field
    """
    if not 1 <= len(tool_call_id) <= MAX_CALL_ID:
        raise _bad("toolCallId", f"A tool call's id has 1 to {MAX_CALL_ID} characters")
    if isinstance(answer, ClientToolError) and len(answer.error.encode()) > MAX_ERROR_BYTES:
        raise _bad("error", f"An error has at most {MAX_ERROR_BYTES} bytes")
    try:
        text = dumps(answer.wire())
        loads_body(text.encode())
    except BadJson as bad:
        raise _bad(bad.field, bad.reason) from None
    except (TypeError, ValueError):
        raise _bad("result", "The result has no JSON form") from None
    return text


def _bad(field: str | None, reason: str) -> EntryRefused:
    return EntryRefused("invalid_payload", reason, field=field)
