"""The shapes of bodies, as the wire spells them. Unknown fields are refused in each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Discriminator, Field, Tag, TypeAdapter
from typing_extensions import TypedDict  # pydantic wants this one below Python 3.12.

MAX_ID = 256  # characters of a session's or a user's id: indexed text
MAX_AGENT_TYPE = 128  # characters, likewise
MAX_LIST = 1_000  # messages of one entry, and parts of one message
MAX_TAGS = 64
RUN_ID = "^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$"

_STRICT = ConfigDict(extra="forbid", strict=True)

Id = Annotated[str, Field(min_length=1, max_length=MAX_ID)]
AgentType = Annotated[str, Field(min_length=1, max_length=MAX_AGENT_TYPE)]
Text = Annotated[str, Field(min_length=1)]
Label = Annotated[str, Field(max_length=MAX_ID)]
Checkpoint = Annotated[str, Field(min_length=1, max_length=MAX_ID)]


class TextPart(TypedDict):
    """A text."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]  # pydantic's own way to configure it

    type: Literal["text"]
    text: Text


class FilePart(TypedDict):
    """A file that lies somewhere else."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]

    type: Literal["file"]
    mediaType: str
    url: str
    filename: NotRequired[str]


def _kind(part: Any) -> str:
    return "~file" if isinstance(part, Mapping) and part.get("type") == "file" else "~text"


Part = Annotated[
    Annotated[TextPart, Tag("~text")] | Annotated[FilePart, Tag("~file")], Discriminator(_kind)
]


class UserMessage(TypedDict):
    """One message of a user."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]

    role: Literal["user"]
    content: Text | Annotated[list[Part], Field(min_length=1, max_length=MAX_LIST)]
    id: NotRequired[str]


UserInput = Text | Annotated[list[UserMessage], Field(min_length=1, max_length=MAX_LIST)]


class StartInput(TypedDict):
    """What a start brings. `state` is merged into the session's at the top level."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]

    message: UserInput
    state: NotRequired[dict[str, Any] | None]


class SessionFields(TypedDict):
    """What a session is created with, and keeps."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]

    sessionId: NotRequired[Id | None]
    agentType: AgentType
    userId: NotRequired[Id | None]
    tags: NotRequired[Annotated[list[Label], Field(max_length=MAX_TAGS)] | None]
    metadata: NotRequired[dict[str, str] | None]
    parentSessionId: NotRequired[Id | None]
    rootSessionId: NotRequired[Id | None]


class StartBody(SessionFields):
    """The body of POST start."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]

    input: StartInput


class SessionBody(SessionFields):
    """The body of POST /sessions."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]

    state: NotRequired[dict[str, Any] | None]


class ContinueOptions(TypedDict):
    """Go on from where the session stands."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]

    mode: Literal["continue"]


class WithMessageOptions(TypedDict):
    """Go on with a user's message."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]

    mode: Literal["with_message"]
    message: UserInput


class FromCheckpointOptions(TypedDict):
    """Go back to a checkpoint, and on from there."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]

    mode: Literal["from_checkpoint"]
    checkpointId: Checkpoint


def _mode(options: Any) -> str | None:
    """Name the shape that options must have; an omitted mode is no default."""
    return f"~{options['mode']}" if isinstance(options, Mapping) and "mode" in options else None


Options = Annotated[
    Annotated[ContinueOptions, Tag("~continue")]
    | Annotated[WithMessageOptions, Tag("~with_message")]
    | Annotated[FromCheckpointOptions, Tag("~from_checkpoint")],
    Discriminator(_mode),
]


class ResumeBody(TypedDict):
    """The body of POST resume."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]

    agentType: AgentType
    options: Options


class RetryBody(TypedDict):
    """The body of POST retry."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]

    agentType: AgentType
    checkpointId: NotRequired[Checkpoint | None]
    message: NotRequired[UserInput | None]


class ResultBody(TypedDict):
    """What a client tool gave: anything, null too."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]

    kind: Literal["client-tool-result"]
    sessionId: NotRequired[Id | None]
    toolCallId: Id
    result: Any


class FailedResultBody(TypedDict):
    """Why a client gave no result."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]

    kind: Literal["client-tool-result"]
    sessionId: NotRequired[Id | None]
    toolCallId: Id
    error: str


class ApprovalBody(TypedDict):
    """Whether a call may run."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]

    kind: Literal["approval-response"]
    sessionId: NotRequired[Id | None]
    toolCallId: Id
    approvalId: Id
    approved: bool
    reason: NotRequired[str | None]


def _answer(body: Any) -> str:
    """Name the shape that a submit must have: of two that have one kind, by what they carry."""
    if not isinstance(body, Mapping) or body.get("kind") != "approval-response":
        return "~error" if isinstance(body, Mapping) and "error" in body else "~result"
    return "~approval"


SubmitBody = Annotated[
    Annotated[ResultBody, Tag("~result")]
    | Annotated[FailedResultBody, Tag("~error")]
    | Annotated[ApprovalBody, Tag("~approval")],
    Discriminator(_answer),
]


class StopBody(TypedDict):
    """The body of POST interrupt and abort. Who may ask twice, or late, names the run."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]

    reason: NotRequired[str | None]
    runId: NotRequired[Annotated[str, Field(pattern=RUN_ID)] | None]


START_BODY = TypeAdapter(StartBody)
RESUME_BODY = TypeAdapter(ResumeBody)
RETRY_BODY = TypeAdapter(RetryBody)
SESSION_BODY = TypeAdapter(SessionBody)
SUBMIT_BODY: TypeAdapter[Any] = TypeAdapter(SubmitBody)
STOP_BODY = TypeAdapter(StopBody)
