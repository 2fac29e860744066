"""What a caller may ask for, as values; and how a request key is read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from lockgate.errors import EntryRefused
from lockgate.strict_json import JsonValue, dumps

REQUEST_KEY_HEADER = "X-Helix-Request-Key"
REQUEST_KEY_PATTERN = r"[A-Za-z0-9._:-]{1,128}"
_REQUEST_KEY = re.compile(REQUEST_KEY_PATTERN)

# A text, or a list of user messages with text and file parts.
UserInput: TypeAlias = str | Sequence[Mapping[str, Any]]


def parse_request_key(key: object) -> str:
    """Return a request key that is of the form.

    Errors  EntryRefused validation_error, which never repeats the value
    Source  the guide on request keys, section 1
    """
    if isinstance(key, str) and _REQUEST_KEY.fullmatch(key):
        return key
    raise EntryRefused(
        "validation_error",
        "A request key has 1 to 128 characters of A-Z, a-z, 0-9, '.', '_', ':' and '-'",
        field="requestKey",
    )


@dataclass(frozen=True, slots=True)
class Start:
    """Start a run with a user's message.

    state       merged into the session's state at the top level
    user_id …   identity: fixed when the session is created; None keeps what the session has
    """

    drive: ClassVar[Literal["start"]] = "start"

    session_id: str
    agent_type: str
    message: UserInput
    state: Mapping[str, JsonValue] | None = None
    request_key: str | None = None
    user_id: str | None = None
    tags: Sequence[str] | None = None
    metadata: Mapping[str, str] | None = None
    parent_session_id: str | None = None
    root_session_id: str | None = None

    def input(self) -> dict[str, Any]:
        """Return what the rule takes as input."""
        given: dict[str, Any] = {"message": self.message}
        if self.state is not None:
            given["state"] = self.state
        return given

    def identity(self) -> dict[str, Any]:
        """Return whose session it is to be."""
        return {
            "user_id": self.user_id,
            "tags": self.tags,
            "metadata": self.metadata,
            "parent_session_id": self.parent_session_id,
            "root_session_id": self.root_session_id,
        }

    def arguments(self) -> dict[str, Any]:
        """Return what its rule alone takes."""
        metadata = None if self.metadata is None else dumps(self.metadata)
        return {"input": dumps(self.input()), **self.identity(), "metadata": metadata}

    def told(self) -> dict[str, Any]:
        """Return what before_entry is told of it: the start body."""
        identity = {
            "userId": self.user_id,
            "tags": None if self.tags is None else list(self.tags),
            "metadata": self.metadata,
            "parentSessionId": self.parent_session_id,
            "rootSessionId": self.root_session_id,
        }
        given = {name: value for name, value in identity.items() if value is not None}
        return {"body": {"agentType": self.agent_type, "input": self.input(), **given}}


@dataclass(frozen=True, slots=True)
class Continue:
    """Go on from where the session stands."""

    def wire(self) -> dict[str, Any]:
        """Return it as the rule and the wire spell it."""
        return {"mode": "continue"}


@dataclass(frozen=True, slots=True)
class WithMessage:
    """Go on with a user's message."""

    message: UserInput

    def wire(self) -> dict[str, Any]:
        """Return it as the rule and the wire spell it."""
        return {"mode": "with_message", "message": self.message}


@dataclass(frozen=True, slots=True)
class FromCheckpoint:
    """Go back to a checkpoint of the session, and on from there."""

    checkpoint_id: str

    def wire(self) -> dict[str, Any]:
        """Return it as the rule and the wire spell it."""
        return {"mode": "from_checkpoint", "checkpointId": self.checkpoint_id}


ResumeOptions: TypeAlias = Continue | WithMessage | FromCheckpoint


def parse_resume_options(options: ResumeOptions | Mapping[str, Any]) -> ResumeOptions:
    """Return the options that a mapping spells; the strict union has no default mode.

    Errors  EntryRefused framework_not_supported for with_confirmation, since approvals go through
            a submit; validation_error for anything else that is none of the three
    """
    if not isinstance(options, Mapping):
        return options
    match dict(options):
        case {"mode": "continue", **extra} if not extra:
            return Continue()
        case {"mode": "with_message", "message": message, **extra} if not extra:
            return WithMessage(message)
        case {"mode": "from_checkpoint", "checkpointId": str(checkpoint_id), **extra} if not extra:
            return FromCheckpoint(checkpoint_id)
        case {"mode": "with_confirmation"}:
            raise EntryRefused("framework_not_supported", "An approval is answered by a submit")
    raise EntryRefused("validation_error", "Invalid resume options", field="options")


@dataclass(frozen=True, slots=True)
class Resume:
    """Go on with a session that was interrupted, or is paused with nothing awaited."""

    drive: ClassVar[Literal["resume"]] = "resume"

    session_id: str
    agent_type: str
    options: ResumeOptions = Continue()
    request_key: str | None = None

    def arguments(self) -> dict[str, Any]:
        """Return what its rule alone takes."""
        return {"options": dumps(self.options.wire())}

    def told(self) -> dict[str, Any]:
        """Return what before_entry is told of it; with_message carries the message."""
        return {"options": self.options}


@dataclass(frozen=True, slots=True)
class Retry:
    """Go on with a failed session: from its last committed step, or from an earlier checkpoint.

    message  a new user's message after what is kept
    """

    drive: ClassVar[Literal["retry"]] = "retry"

    session_id: str
    agent_type: str
    checkpoint_id: str | None = None
    message: UserInput | None = None
    request_key: str | None = None

    def arguments(self) -> dict[str, Any]:
        """Return what its rule alone takes."""
        return {
            "checkpoint_id": self.checkpoint_id,
            "message": None if self.message is None else dumps(self.message),
        }

    def told(self) -> dict[str, Any]:
        """Return what before_entry is told of it."""
        return {"checkpoint_id": self.checkpoint_id, "message": self.message}


EntryRequest: TypeAlias = Start | Resume | Retry


@dataclass(frozen=True, slots=True)
class Actor:
    """Who asks. user_id None is a trusted caller; a session of another user looks like none."""

    user_id: str | None = None
    tenant_id: str = ""


TRUSTED = Actor()
