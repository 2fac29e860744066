"""What a client asks for: mixed entries, new and repeated, with a key, by a run id, or without.

Every input has a token of its own, so that it can be found again wherever it was stored.
"""

from __future__ import annotations

import json
import random
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from lockgate.models.scripted import PREFIX
from lockgate_ops.chaos.forecast import Forecast

VERBS = ("start", "resume", "retry")


@dataclass(frozen=True, slots=True)
class Wish:
    """One request; the same wish again is the same request.

    token   found in the input that it brings; None where it brings none
    run_id  what names it where it has no key: over HTTP nothing does, so it is sent once
    """

    session_id: str
    verb: str
    given: dict[str, Any]
    token: str | None
    key: str | None = None
    run_id: UUID | None = None
    interrupts: bool = False

    @property
    def may_repeat(self) -> bool:
        """Whether it can be sent again as the same request."""
        return self.key is not None or self.run_id is not None


def script(*turns: Mapping[str, Any]) -> str:
    """Write a message that the scripted model plays."""
    return f"{PREFIX} {json.dumps(turns)}"


def call(tool: str, **args: Any) -> dict[str, Any]:
    """Return a script's call of a tool."""
    return {"tool": tool, "args": args}


def new_token() -> str:
    """Return what is found again wherever an input is stored."""
    return f"t-{uuid4().hex}"


def scripts(token: str, rng: random.Random) -> str:
    """Write a message whose run says something, calls a tool, takes its time, or fails."""
    kind = rng.random()
    if kind < 0.4:
        return script({"say": f"Hello {token}."})
    if kind < 0.65:
        noted = call("note", text="noted", seconds=0.05)
        return script({"calls": [noted]}, {"say": f"Noted {token}."})
    if kind < 0.8:
        return script({"say": f"@pace:0.1 It takes its time {token}."})
    return script({"fail": {"code": "model_failed", "retryable": False, "message": token}})


@dataclass(slots=True)
class Wisher:
    """Thinks of wishes for one client; some are those that somebody had before.

    checkpoints  where a session may be taken back to, as somebody has read it
    """

    forecast: Forecast
    rng: random.Random
    over_http: bool
    recent: deque[Wish]
    checkpoints: dict[str, str] = field(default_factory=dict)

    def next(self) -> Wish:
        """Return a new wish, or one that was had before, or another under its key."""
        choice = self.rng.random()
        if self.recent and choice < 0.2:
            return self.rng.choice(self.recent)
        if self.recent and choice < 0.25:
            return self._conflicting(self.rng.choice(self.recent))
        wish = self._new(self.rng.choices(VERBS, [6, 2, 2])[0])
        if wish.key is not None:
            self.recent.append(wish)
        return wish

    def _new(self, verb: str) -> Wish:
        session_id = self.rng.choice(self.forecast.contested)
        token = new_token()
        given, brings = getattr(self, f"_{verb}")(session_id, scripts(token, self.rng))
        # What goes back is always named, so that it can be told afterwards what it took away.
        is_keyed = self.rng.random() < 0.6 or (self.over_http and goes_back(given))
        return Wish(
            session_id,
            verb,
            given,
            token if brings else None,
            key=f"k-{uuid4().hex}" if is_keyed else None,
            run_id=None if is_keyed or self.over_http else uuid4(),
            interrupts=verb == "start" and not self.over_http and self.rng.random() < 0.3,
        )

    def _conflicting(self, other: Wish) -> Wish:
        token = new_token()
        given, _ = self._start(other.session_id, scripts(token, self.rng))
        return Wish(other.session_id, "start", given, token, key=other.key)

    def _start(self, _session_id: str, message: str) -> tuple[dict[str, Any], bool]:
        return {"input": {"message": message}}, True

    def _resume(self, session_id: str, message: str) -> tuple[dict[str, Any], bool]:
        mode = self.rng.choice(["continue", "with_message", "from_checkpoint"])
        if mode == "with_message":
            return {"options": {"mode": mode, "message": message}}, True
        if mode == "from_checkpoint" and session_id in self.checkpoints:
            checkpoint_id = self.checkpoints[session_id]
            return {"options": {"mode": mode, "checkpointId": checkpoint_id}}, False
        return {"options": {"mode": "continue"}}, False

    def _retry(self, session_id: str, message: str) -> tuple[dict[str, Any], bool]:
        given: dict[str, Any] = {}
        if self.rng.random() < 0.4:
            given["message"] = message
        if self.rng.random() < 0.3 and session_id in self.checkpoints:
            given["checkpointId"] = self.checkpoints[session_id]
        return given, "message" in given


def goes_back(given: dict[str, Any]) -> bool:
    """Say whether a request takes a history back to a checkpoint, and so takes inputs away."""
    return "checkpointId" in given or "checkpointId" in given.get("options", {})
