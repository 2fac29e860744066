"""What OpenAPI says of a route beyond what the framework sees: bodies, headers, answers."""

from dataclasses import dataclass
from typing import Any, Literal, NotRequired, TypeAlias

from litestar.openapi import OpenAPIConfig
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import OpenAPIMediaType, Operation, Parameter, RequestBody, Schema
from litestar.openapi.spec.enums import OpenAPIType
from pydantic import TypeAdapter
from typing_extensions import TypedDict  # pydantic wants this one below Python 3.12.

from lockgate.requests import REQUEST_KEY_HEADER, REQUEST_KEY_PATTERN
from lockgate_api.answers import (
    BAD_REQUEST,
    JSON,
    OK,
    READ_ERRORS,
    WRITE_ERRORS,
    ErrorBody,
    InvalidResultBody,
)

Errors: TypeAlias = dict[int, ResponseSpec]


class EntryAnswer(TypedDict):
    """Which run an entry has started or resumed, or found under its key (`attached`)."""

    sessionId: str
    streamId: str
    runId: str
    status: Literal["started", "resumed", "attached"]
    startSequence: int


class SessionAnswer(TypedDict):
    """Which session was made, or was there already."""

    sessionId: str
    agentType: str
    status: str
    created: bool


class StatusAnswer(TypedDict):
    """Where a session stands."""

    sessionId: str
    agentType: str
    status: Literal["active", "paused", "completed", "failed", "interrupted"]
    streamId: str
    streamStatus: Literal["active", "paused", "ended", "failed"] | None
    runId: str | None
    runStatus: str | None
    turn: int | None
    isExecuting: bool
    startSequence: int | None
    output: NotRequired[Any]
    error: NotRequired[str]
    errorDetail: NotRequired[dict[str, Any]]
    awaitingToolCallIds: list[str]
    updatedAt: str


class SubmitAnswer(TypedDict):
    """What became of an answer. `runId` is the run that goes on, null while others are awaited."""

    status: Literal["accepted", "already_completed"]
    toolCallId: str
    runId: NotRequired[str | None]
    approved: NotRequired[bool]


class StopAnswer(TypedDict):
    """What a stop has done: `stopping` ends the run at its next boundary."""

    sessionId: str
    status: Literal["stopping", "stopped", "not_running"]
    runId: NotRequired[str]
    runStatus: NotRequired[str]


class UsageAnswer(TypedDict):
    """What a session's runs have used, summed up."""

    sessionId: str
    rollup: dict[str, Any]


class SnapshotRun(TypedDict):
    """The session's current run."""

    runId: str
    turn: int
    status: str
    startSequence: int
    endSequence: NotRequired[int]
    requestKey: NotRequired[str]
    requestDigest: NotRequired[str]


class PendingCall(TypedDict):
    """A tool call that waits for somebody's answer."""

    toolCallId: str
    toolName: str
    kind: Literal["client", "approval"]
    input: Any
    approvalId: NotRequired[str]
    runId: str
    status: Literal["pending"]


class SnapshotAnswer(TypedDict):
    """A session's committed history; follow its stream from `streamSequence`."""

    sessionId: str
    agentType: str
    status: Literal["active", "paused", "ended", "failed"]
    sessionStatus: Literal["active", "paused", "completed", "failed", "interrupted"]
    messages: list[dict[str, Any]]
    state: dict[str, Any]
    streamId: str
    streamStatus: Literal["active", "paused", "ended", "failed"] | None
    streamSequence: int
    epoch: str | None
    timestamp: str
    run: SnapshotRun | None
    pending: list[PendingCall]
    error: NotRequired[str]
    errorDetail: NotRequired[dict[str, Any]]
    streamError: NotRequired[str]
    streamErrorDetail: NotRequired[dict[str, Any]]


class HealthAnswer(TypedDict):
    """All is well."""

    status: Literal["ok"]


class _JsonSchema(Schema):
    """A schema that is said in JSON Schema's own words already."""

    def __init__(self, said: dict[str, Any]) -> None:
        super().__init__()
        self.said = said

    def to_schema(self) -> dict[str, Any]:
        return self.said


def answers(said: type[Any], *statuses: int, errors: Errors = READ_ERRORS) -> Errors:
    """Declare what a route answers with: this where it succeeds, our error body where not."""
    success = ResponseSpec(said, generate_examples=False, description=said.__doc__ or "")
    return {**dict.fromkeys(statuses or (OK,), success), **errors}


def takes(body: TypeAdapter[Any] | None = None, *parameters: Parameter) -> type[Operation]:
    """Declare what a route reads of its request by itself."""
    schema = None if body is None else _JsonSchema(_inlined(body.json_schema()))

    @dataclass
    class Described(Operation):
        def __post_init__(self) -> None:
            self.parameters = [*(self.parameters or ()), *parameters]
            if schema is not None:
                content = {JSON: OpenAPIMediaType(schema)}
                self.request_body = RequestBody(content=content, required=True)

    return Described


def openapi() -> OpenAPIConfig:
    """Return what serves the document: /schema/openapi.json, and no page that needs a network."""
    return OpenAPIConfig(
        title="Lockgate", version="1", path="/schema", render_plugins=[JsonRenderPlugin()]
    )


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """Put each definition where it is referred to, untitled; none of ours refers to itself."""
    definitions = schema.pop("$defs", {})

    def inline(part: Any) -> Any:
        if isinstance(part, list):
            return [inline(each) for each in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            return inline(definitions[part["$ref"].rpartition("/")[2]])
        return {name: inline(each) for name, each in part.items() if name != "title"}

    inlined: dict[str, Any] = inline(schema)
    return inlined


_TEXT = Schema(type=OpenAPIType.STRING)
_KEY = Schema(type=OpenAPIType.STRING, pattern=f"^{REQUEST_KEY_PATTERN}$")
REQUEST_KEY = (
    Parameter(REQUEST_KEY_HEADER, "header", _KEY, "The same request under it runs once."),
    Parameter("Idempotency-Key", "header", _TEXT, f"An alias of {REQUEST_KEY_HEADER}."),
)
WAIT = Parameter(
    "wait", "query", Schema(type=OpenAPIType.BOOLEAN), "Answer once the run has settled."
)
_REFUSED: Any = ErrorBody | InvalidResultBody
SUBMIT_ERRORS: Errors = {
    **WRITE_ERRORS,
    BAD_REQUEST: ResponseSpec(
        _REFUSED,
        generate_examples=False,
        description="The answer is not of the form, or its tool refuses the result.",
        media_type=JSON,
    ),
}
CURSOR = (
    Parameter("fromSequence", "query", _TEXT, "The last sequence that the reader has."),
    Parameter("Last-Event-ID", "header", _TEXT, "The last event's id; it wins."),
)
METRICS: Errors = {
    OK: ResponseSpec(
        str,
        generate_examples=False,
        description="Counters and gauges in Prometheus's text format; they name nobody.",
        media_type="text/plain",
    )
}
EVENTS: Errors = {
    OK: ResponseSpec(
        str,
        generate_examples=False,
        description="Events: chunk, caught-up, and one of end, fail, truncated and rewound.",
        media_type="text/event-stream",
    )
}
