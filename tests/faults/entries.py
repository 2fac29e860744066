"""The requests that meet faults: how each is arranged and asked, and what its repeat is told.

A repeat is the same request, under the same key or the same run id, as its caller makes it who has
heard nothing.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from lockgate.rules import entries, runs, sessions
from tests.faults.place import Place, Request
from tests.support.door import AGENT, Door

Arrange = Callable[[Door, str], dict[str, Any]]
ERROR = {"message": "The model is not there", "code": "framework_agent_not_found"}


@dataclass(frozen=True)
class Entry:
    """One kind of request.

    rule     the rule that it calls, by its name
    first    what it is told when it takes effect
    again    what its repeat is told then
    arrange  makes the session as it has to be, and returns what is asked of it
    """

    name: str
    rule: str
    first: str
    again: str
    arrange: Arrange

    def request(self, place: Place) -> Request:
        """Arrange a session of its own, and make the request of it by the runtime's one way."""
        session_id = place.new_session()
        given = self.arrange(place.door, session_id)

        def ask() -> str:
            answer = place.told(place.far.database.call, self.call, **given)
            return answer if isinstance(answer, str) else str(answer.outcome)

        return Request(session_id, ask, self.first, lost=self.again, again=self.again)

    @property
    def call(self) -> Any:
        """The rule as the runtime calls it."""
        return next(
            getattr(module, self.rule)
            for module in (entries, runs, sessions)
            if hasattr(module, self.rule)
        )


def starts(**more: Any) -> Arrange:
    def arrange(_db: Door, session_id: str) -> dict[str, Any]:
        return {
            "session_id": session_id,
            "agent_type": AGENT,
            "input": json.dumps({"message": "hi", "state": {"n": 1}}),
            **named(more),
        }

    return arrange


def resumes(options: dict[str, Any], **more: Any) -> Arrange:
    def arrange(db: Door, session_id: str) -> dict[str, Any]:
        db.finished(session_id)
        return {
            "session_id": session_id,
            "agent_type": AGENT,
            "options": json.dumps(options),
            **named(more),
        }

    return arrange


def retries(**more: Any) -> Arrange:
    def arrange(db: Door, session_id: str) -> dict[str, Any]:
        db.driven(session_id).finish("failed", error_detail=ERROR)
        return {"session_id": session_id, "agent_type": AGENT, **named(more)}

    return arrange


def named(more: dict[str, Any]) -> dict[str, Any]:
    """Name a request that has no key by a run id, which is chosen before the first try."""
    return more if "request_key" in more else {**more, "run_id": uuid4()}


def creates(_db: Door, session_id: str) -> dict[str, Any]:
    return {"session_id": session_id, "agent_type": AGENT, "state": json.dumps({"n": 1})}


def deletes(db: Door, session_id: str) -> dict[str, Any]:
    db.finished(session_id)
    return {"session_id": session_id}


def fails(db: Door, session_id: str) -> dict[str, Any]:
    db.create_session(session_id)
    return {"session_id": session_id, "error_detail": json.dumps(ERROR)}


def commits_a_start(db: Door, session_id: str) -> dict[str, Any]:
    db.create_session(session_id)
    expect = {"currentRunId": None, "currentRunStatus": None, "sessionStatus": "active"}
    message = {"role": "user", "content": [{"type": "text", "text": "hi"}]}
    return {
        "session_id": session_id,
        "run_id": uuid4(),
        "drive": "start",
        "session_status": "active",
        "expect": json.dumps(expect),
        "messages": json.dumps([message]),
    }


def ends(db: Door, session_id: str) -> dict[str, Any]:
    drive = db.driven(session_id)
    return {"session_id": session_id, "run_id": drive.run_id, "status": "completed"}


ENTRIES = [
    Entry("start-by-key", "start", "started", "attached", starts(request_key="k1")),
    Entry("start-by-run-id", "start", "started", "replayed", starts()),
    Entry("create_session", "create_session", "created", "existing", creates),
    Entry("fail_session_without_run", "fail_session_without_run", "failed", "unchanged", fails),
]
