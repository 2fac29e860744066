"""What a caller may ask for, as values; and how a request key is read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lockgate.errors import EntryRefused
from lockgate.strict_json import JsonValue

REQUEST_KEY_HEADER = "X-Helix-Request-Key"
REQUEST_KEY_PATTERN = r"[A-Za-z0-9._:-]{1,128}"
_REQUEST_KEY = re.compile(REQUEST_KEY_PATTERN)


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

    message     a text, or a list of user messages with text and file parts
    state       merged into the session's state at the top level
    user_id …   identity: fixed when the session is created; None keeps what the session has
    """

    session_id: str
    agent_type: str
    message: str | Sequence[Mapping[str, Any]]
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

    def body(self) -> dict[str, Any]:
        """Return the request as before_entry sees it: the start body."""
        identity = {
            "userId": self.user_id,
            "tags": None if self.tags is None else list(self.tags),
            "metadata": self.metadata,
            "parentSessionId": self.parent_session_id,
            "rootSessionId": self.root_session_id,
        }
        given = {name: value for name, value in identity.items() if value is not None}
        return {"agentType": self.agent_type, "input": self.input(), **given}


@dataclass(frozen=True, slots=True)
class Actor:
    """Who asks. user_id None is a trusted caller; a session of another user looks like none."""

    user_id: str | None = None
    tenant_id: str = ""


TRUSTED = Actor()
