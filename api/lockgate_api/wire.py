"""What a request says: its body, its session id, its request key, its cursor, each read strictly.

Nothing that came in is repeated in a refusal but the name of the place. No database is asked here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import unquote_to_bytes
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from lockgate import EntryRefused, parse_request_key
from lockgate.client_answers import ToolAnswer, parse_answer
from lockgate.requests import REQUEST_KEY_HEADER
from lockgate.strict_json import BadJson, JsonValue, loads_body
from lockgate_api.answers import too_large
from lockgate_api.front import AnyRequest, Front
from lockgate_api.paths import SESSION_ID
from lockgate_api.shapes import (
    MAX_ID,
    RESUME_BODY,
    RETRY_BODY,
    SESSION_BODY,
    START_BODY,
    STOP_BODY,
    SUBMIT_BODY,
    ResumeBody,
    RetryBody,
    SessionBody,
    SessionFields,
    StartBody,
)

MAX_SEQUENCE = 2**62  # past any stream's head, and still a number that Postgres can add to
BAD_BODY = "Invalid request body"

_KEY_HEADER = REQUEST_KEY_HEADER.lower().encode()
_KEY_ALIAS = b"idempotency-key"  # bare, or as the quoted string of a structured field
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_CURSOR = re.compile(r"([0-9]{1,64})(?:-([A-Za-z0-9]{1,64}))?")

Body = TypeVar("Body")


async def read_start(request: AnyRequest, front: Front, session_id: str) -> StartBody:
    """Read a start's body for the session that the path names."""
    value = await read_json(request, front)
    if isinstance(value, dict) and "branch" in value:
        raise EntryRefused("framework_not_supported", "Branching a session is not supported")
    body = validated(START_BODY, value, front)
    _refuse_other_session(body.get("sessionId"), session_id)
    return body


async def read_resume(request: AnyRequest, front: Front) -> ResumeBody:
    """Read a resume's body: which agent type, and how it goes on."""
    return validated(RESUME_BODY, await read_json(request, front), front)


async def read_retry(request: AnyRequest, front: Front) -> RetryBody:
    """Read a retry's body: which agent type, from where, and with which message."""
    return validated(RETRY_BODY, await read_json(request, front), front)


async def read_submit(request: AnyRequest, front: Front, session_id: str) -> tuple[str, ToolAnswer]:
    """Read a submit's body: which call, and its answer. One of no kind is invalid_payload."""
    value = await read_json(request, front)
    body = validated(SUBMIT_BODY, value, front, "invalid_payload")
    _refuse_other_session(body.pop("sessionId", None), session_id)
    return body.pop("toolCallId"), parse_answer(body)


async def read_stop(request: AnyRequest, front: Front) -> tuple[UUID | None, str | None]:
    """Read a stop's body: the run it is for, and why."""
    body = validated(STOP_BODY, await read_json(request, front), front)
    run_id = body.get("runId")
    return None if run_id is None else UUID(run_id), body.get("reason")


def waits(request: AnyRequest) -> bool:
    """Say whether the answer is to wait for the run's end: the query's wait=true."""
    said = request.query_params.get("wait", "false")
    if said not in ("true", "false"):
        raise EntryRefused("validation_error", "wait is true or false", field="wait")
    return said == "true"


async def read_session(request: AnyRequest, front: Front) -> SessionBody:
    """Read the body of POST /sessions."""
    body = validated(SESSION_BODY, await read_json(request, front), front)
    session_id = body.get("sessionId")
    if session_id is not None:
        refuse_session_id(session_id)
    return body


def identity_of(body: SessionFields) -> dict[str, Any]:
    """Return the identity that a body names, as the runtime takes it."""
    return {
        "user_id": body.get("userId"),
        "tags": body.get("tags"),
        "metadata": body.get("metadata"),
        "parent_session_id": body.get("parentSessionId"),
        "root_session_id": body.get("rootSessionId"),
    }


async def read_json(request: AnyRequest, front: Front) -> JsonValue:
    """Read a body by the border rules, whatever its media type says."""
    try:
        return loads_body(await _read_bytes(request, front.max_body_bytes))
    except BadJson as bad:
        raise _bad_body(bad.field, bad.reason, front) from None


def validated(
    adapter: TypeAdapter[Body], value: JsonValue, front: Front, code: str = "validation_error"
) -> Body:
    """Hold a body to its shape, in one validation; unknown fields are refused."""
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        flaws = error.errors(include_url=False, include_context=False, include_input=False)
        places = [(_place(flaw["loc"], value, flaw["type"]), flaw["msg"]) for flaw in flaws]
    # Where a value may be of two shapes, the complaint that got deeper is about the one meant.
    field, reason = max(places, key=lambda place: place[0].count(".") + place[0].count("["))
    raise _bad_body(field or None, reason, front, code) from None


def session_id_of(request: AnyRequest) -> str:
    """Return the session id that the path names, refused before any look-up if it is none."""
    raw: bytes | None = request.scope.get(SESSION_ID)  # type: ignore[assignment]
    if raw is None:
        return refuse_session_id(request.path_params["session_id"])
    try:
        return refuse_session_id(unquote_to_bytes(raw).decode())
    except UnicodeDecodeError:
        return refuse_session_id("")


def refuse_session_id(session_id: str) -> str:
    """Return a session id that is of the form: 1 to 256 printable characters."""
    if 1 <= len(session_id) <= MAX_ID and not _UNPRINTABLE.search(session_id):
        return session_id
    raise EntryRefused(
        "validation_error",
        f"A session's id has 1 to {MAX_ID} printable characters",
        field="sessionId",
    )


def request_key_of(request: AnyRequest) -> str | None:
    """Return the request key, from either of its headers; it is read before anything else is.

    Errors  EntryRefused validation_error, which never repeats the value
    """
    found: dict[bytes, str] = {}
    for name, value in request.scope["headers"]:
        if name in (_KEY_HEADER, _KEY_ALIAS):
            if name in found:
                raise _bad_key("A request key is sent in one header line")
            text = value.decode("latin-1")
            if name == _KEY_ALIAS and len(text) > 1 and text[0] == text[-1] == '"':
                text = text[1:-1]
            found[name] = parse_request_key(text)
    if not found:
        return None
    key, *other = set(found.values())
    if other:
        raise _bad_key("The request key's two headers differ")
    return key


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a reader stands. `after` is None at the very beginning."""

    after: int | None
    epoch: str | None


def cursor_of(request: AnyRequest) -> Cursor:
    """Return the last chunk a reader has: Last-Event-ID wins over the query's fromSequence."""
    last_event_id = request.headers.get("last-event-id")
    text = last_event_id or request.query_params.get("fromSequence")
    if text is None:
        return Cursor(None, None)
    found = _CURSOR.fullmatch(text)
    if found is None or (found[2] and not last_event_id):
        raise EntryRefused(
            "validation_error", "A cursor is the number of a chunk", field="fromSequence"
        )
    return Cursor(min(int(found[1]), MAX_SEQUENCE), found[2])


async def _read_bytes(request: AnyRequest, limit: int) -> bytes:
    """Read a whole body, and refuse it as soon as it is too long, announced or not."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await request.receive()
        if message["type"] != "http.request":
            raise EntryRefused("framework_cancelled", "The client has gone")
        part = message.get("body", b"")
        size += len(part)
        if size > limit:
            too_large()
        parts.append(part)
        if not message.get("more_body", False):
            return parts[0] if len(parts) == 1 else b"".join(parts)


def _refuse_other_session(named: str | None, session_id: str) -> None:
    if named not in (None, session_id):
        raise EntryRefused(
            "validation_error", "Path and body name different sessions", field="sessionId"
        )


def _bad_body(
    field: str | None, reason: str, front: Front, code: str = "validation_error"
) -> EntryRefused:
    text = f"{BAD_BODY}: {reason}" if front.verbose_validation_errors else BAD_BODY
    return EntryRefused(code, text, field=field)


def _bad_key(reason: str) -> EntryRefused:
    return EntryRefused("validation_error", reason, field="requestKey")


def _place(location: Sequence[int | str], value: Any, kind: str) -> str:
    """Name a place of a body by pydantic's location, from which its own words are dropped."""
    path = ""
    for at, step in enumerate(location, start=1):
        if isinstance(step, int) and isinstance(value, list):
            path, value = f"{path}[{step}]", value[step]
        elif isinstance(value, dict) and (
            step in value or (kind == "missing" and at == len(location))
        ):
            path, value = f"{path}.{step}" if path else str(step), value.get(step)
    return path
