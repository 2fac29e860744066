"""THE table: from an error, or from what a rule answered, to status and body.

HTTP numbers live here and nowhere else. It decides nothing: codes, retryability and texts come from
`lockgate.errors`, whose `error_detail` is where every text is scrubbed.
Source: reference/http.md 1.1, 4.3 and 12.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, NoReturn, NotRequired, TypedDict

import structlog
from litestar import Response
from litestar.exceptions import HTTPException
from litestar.openapi.datastructures import ResponseSpec
from litestar.response.base import ASGIResponse
from litestar.types import ASGIApp, Receive, Scope, Send

from lockgate.codes import submit_cause
from lockgate.errors import (
    EntryRefused,
    category,
    counts_as_retryable,
    error_detail,
    find_known,
    reject_cause,
)
from lockgate.scrub import scrub
from lockgate.strict_json import dumps
from lockgate_api.front import AnyRequest, front_of

OK = 200
CREATED = 201
BAD_REQUEST = 400
INTERNAL = 500
UNAVAILABLE = 503
_CONFLICT = 409

JSON = "application/json"
INTERNAL_SENTENCE = "Internal server error"
UNCLASSIFIED = "framework_internal_error"
INVALID_RESULT = "INVALID_RESULT"

# First that applies: this list, then 503 for what a resend can cure, 409 for a state, and 500.
STATUS_OF_CODE: Mapping[str, int] = MappingProxyType(
    {
        "validation_error": BAD_REQUEST,
        "framework_agent_not_found": 404,
        "state_already_running": _CONFLICT,
        "state_run_start_conflict": _CONFLICT,
        "state_not_resumable": _CONFLICT,
        "state_request_already_completed": _CONFLICT,
        "state_request_key_conflict": _CONFLICT,
        "stream_failed": _CONFLICT,
        "NOT_FOUND": 404,
        "unknown_tool_call": 404,
        "invalid_payload": BAD_REQUEST,
        INVALID_RESULT: BAD_REQUEST,
        "INVALID_REQUEST": BAD_REQUEST,
        "UNAUTHORIZED": 401,
        "FORBIDDEN": 403,
        "RATE_LIMITED": 429,
    }
)

# What the framework, or a host that uses its exceptions, refuses by a number alone.
_CODE_OF_STATUS: Mapping[int, tuple[str, str]] = MappingProxyType(
    {
        401: ("UNAUTHORIZED", "Credentials are missing or not valid"),
        403: ("FORBIDDEN", "The request is refused"),
        404: ("NOT_FOUND", "There is nothing here"),
        405: ("INVALID_REQUEST", "There is no such method here"),
        413: ("INVALID_REQUEST", "The body is too large"),
        415: ("INVALID_REQUEST", "The body's media type is not supported"),
        429: ("RATE_LIMITED", "Too many requests"),
    }
)
_OTHER_REFUSAL = ("INVALID_REQUEST", "The request is not of the form")
# A 500 to the client, and no failure of ours.
_QUIET_CODES = frozenset({"framework_cancelled", "framework_not_supported"})

log = structlog.get_logger(__name__)


class ErrorBody(TypedDict):
    """The body of every refusal and failure. A client retries when `retryable` says so."""

    error: str
    code: str
    retryable: bool
    cause: NotRequired[str]
    runId: NotRequired[str]
    field: NotRequired[str]


class InvalidResultBody(TypedDict):
    """A submitted result that the tool's output schema refuses: the call stays pending."""

    error: str
    code: Literal["INVALID_RESULT"]
    toolName: str
    toolCallId: str
    issues: NotRequired[list[str]]


_DESCRIPTIONS: Mapping[int, str] = MappingProxyType(
    {
        BAD_REQUEST: "The request is not of the form; `field` names the place.",
        401: "Credentials are missing or not valid.",
        403: "The host refuses the request.",
        404: "There is no such session, stream or agent type.",
        _CONFLICT: "The session's state refuses the request; `code` says which.",
        413: "The body is too large.",
        INTERNAL: "A failure that a resend cannot cure, or might double.",
        UNAVAILABLE: "A failure before anything was committed: the request may be sent again.",
    }
)


def declared(*statuses: int) -> dict[int, ResponseSpec]:
    """Declare that a route may answer these statuses with our error body, for OpenAPI."""
    return {
        status: ResponseSpec(
            ErrorBody, generate_examples=False, description=_DESCRIPTIONS[status], media_type=JSON
        )
        for status in statuses
    }


READ_ERRORS = declared(BAD_REQUEST, 401, 403, 404, INTERNAL, UNAVAILABLE)
WRITE_ERRORS = declared(BAD_REQUEST, 401, 403, 404, _CONFLICT, 413, INTERNAL, UNAVAILABLE)


class JsonAnswer(ASGIResponse):
    """Strict JSON in which every number is exact, sent without the framework's header lists."""

    __slots__ = ()

    def __init__(self, body: Mapping[str, Any], status: int = OK) -> None:
        self.body = dumps(body).encode()
        self.status_code = status

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(self.body)).encode()),
        ]
        await send({"type": "http.response.start", "status": self.status_code, "headers": headers})
        await send({"type": "http.response.body", "body": self.body, "more_body": False})


def not_found() -> EntryRefused:
    """There is nothing to read: no such session, another user's, or one without a stream."""
    return EntryRefused("NOT_FOUND", "There is no such session, or it has nothing to read")


def too_large() -> NoReturn:
    """Refuse a body that has passed the limit, however much of it is still to come."""
    raise HTTPException(status_code=413)


def error_answer(error: BaseException) -> tuple[int, ErrorBody]:
    """Turn an error into status and body, as long as the input is not committed.

    An error that comes after the commit says so itself: it is not retryable.
    """
    known = find_known(error)
    if known is None:
        retryable = counts_as_retryable(error)
        body = ErrorBody(error=INTERNAL_SENTENCE, code=UNCLASSIFIED, retryable=retryable)
        return _status(UNCLASSIFIED, retryable), body
    detail = error_detail(known)
    code, retryable = detail.get("code", UNCLASSIFIED), detail.get("retryable", False)
    body = ErrorBody(error=detail["message"], code=code, retryable=retryable)
    named = getattr(known, "cause", None)
    cause = reject_cause(named) or submit_cause(named)
    run_id, field = getattr(known, "run_id", None), getattr(known, "field", None)
    if cause is not None:
        body["cause"] = str(cause)
    if run_id is not None:
        body["runId"] = str(run_id)
    if field is not None:
        body["field"] = scrub(str(field))
    return _status(code, retryable), body


def failed_read(error: BaseException) -> ASGIResponse:
    """Answer a snapshot that could not be read: the code is kept, and it is always a 500."""
    _, body = error_answer(error)
    _log_failure(INTERNAL, body, error)
    return JsonAnswer(body, INTERNAL)


def on_error(request: AnyRequest, error: Exception) -> Response[Any]:
    """Answer whatever a route, the framework or the host has raised."""
    headers: Mapping[str, str] | None = None
    if isinstance(error, HTTPException) and error.status_code < INTERNAL:
        status = error.status_code
        code, sentence = _CODE_OF_STATUS.get(status, _OTHER_REFUSAL)
        body = ErrorBody(error=sentence, code=code, retryable=code == "RATE_LIMITED")
        headers = error.headers
    else:
        known = find_known(error)
        response = getattr(known, "response", None)
        if response is not None:
            return _Verbatim(verbatim(response, request))
        if known is not None and getattr(known, "code", None) == INVALID_RESULT:
            is_verbose = front_of(request).verbose_validation_errors
            return _Verbatim(JsonAnswer(_refused_result(known, is_verbose), BAD_REQUEST))
        status, body = error_answer(error)
        _log_failure(status, body, error)
    content = dumps(body).encode()
    return Response(content, media_type=JSON, status_code=status, headers=headers)


def verbatim(response: Any, request: AnyRequest) -> ASGIApp:
    """Make a host's own response answerable.

    response  Litestar's Response, any ASGI response, or a mapping {status, headers?, body?} whose
              body is bytes, a text, or what JSON can say
    Errors    EntryRefused framework_hook_failed for anything else
    """
    if isinstance(response, Response):
        return response.to_asgi_response(app=None, request=request)
    if callable(response):
        asgi: ASGIApp = response
        return asgi
    if isinstance(response, Mapping) and isinstance(response.get("status"), int):
        body = response.get("body", b"")
        is_text = isinstance(body, str | bytes)
        return ASGIResponse(
            body=body if is_text else dumps(body),
            media_type="text/plain" if is_text else JSON,
            status_code=response["status"],
            headers=dict(response.get("headers") or {}),
        )
    raise EntryRefused(
        "framework_hook_failed", "The host's response is none that can be sent", retryable=False
    )


def _refused_result(error: BaseException, is_verbose: bool) -> InvalidResultBody:
    """Say which call's result does not fit; what its tool asks of it only to who wants to know."""
    detail: Mapping[str, Any] = getattr(error, "detail", {})
    body = InvalidResultBody(
        error=str(error),
        code="INVALID_RESULT",
        toolName=detail["toolName"],
        toolCallId=detail["toolCallId"],
    )
    if is_verbose:
        body["issues"] = [scrub(issue) for issue in detail["issues"]]
        body["error"] = scrub(f"{error}: {'; '.join(detail['issues'])}")
    return body


class _Verbatim(Response[None]):
    """Carries a ready answer through the framework's hands unchanged."""

    def __init__(self, ready: ASGIApp) -> None:
        super().__init__(None)
        self._ready = ready

    def to_asgi_response(self, *_args: Any, **_kwargs: Any) -> Any:
        return self._ready


def _status(code: str, retryable: bool) -> int:
    listed = STATUS_OF_CODE.get(code)
    if listed is not None:
        return listed
    if retryable:
        return UNAVAILABLE
    return _CONFLICT if category(code) == "state" else INTERNAL


def _log_failure(status: int, body: ErrorBody, error: BaseException) -> None:
    """Log a failure of ours, as scrubbed as the client is told of it; refusals are his business."""
    if status < INTERNAL or body["code"] in _QUIET_CODES:
        return
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = (
        None if frame is None else f"{frame.tb_frame.f_globals.get('__name__')}:{frame.tb_lineno}"
    )
    log.error(
        "request.failed",
        status=status,
        code=body["code"],
        kind=type(error).__name__,
        where=where,
        error=error_detail(error),
    )
