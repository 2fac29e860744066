"""The requests that meet faults: how each is arranged and asked, and what its repeat is told.

A repeat is the same request, under the same key or the same run id, as its caller makes it who has
heard nothing.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from lockgate.rules import entries, runs, sessions, streams
from tests.faults.place import Place, Request
from tests.support.door import AGENT, Door

Arrange = Callable[[Door, str], dict[str, Any]]
STOP = """
update lockgate_store.runs set stop_kind = 'interrupt', stop_requested_at = now()
 where run_id = %s
"""
ERROR = {"message": "The model is not there", "code": "framework_agent_not_found"}


@dataclass(frozen=True)
class Entry:
    """One kind of request.

    call     the rule, as the runtime calls it
    first    what it is told when it takes effect
    again    what its repeat is told then
    arrange  makes the session as it has to be, and returns what is asked of it
    """

    name: str
    call: Callable[..., Any]
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
    def rule(self) -> str:
        return str(self.call.__name__)


def interrupted(db: Door, session_id: str, **more: object) -> None:
    """Make a session whose run was stopped."""
    drive = db.driven(session_id, **more)
    db.execute(STOP, drive.run_id)
    assert drive.finish("stopped").outcome == "finished"


def failed(db: Door, session_id: str, **more: object) -> None:
    """Make a session whose run has failed."""
    drive = db.driven(session_id, **more)
    assert drive.finish("failed", error_detail=ERROR).outcome == "finished"


def starts(**more: Any) -> Arrange:
    def arrange(_db: Door, session_id: str) -> dict[str, Any]:
        return {
            "session_id": session_id,
            "agent_type": AGENT,
            "input": json.dumps({"message": "hi", "state": {"n": 1}}),
            **named(more),
        }

    return arrange


def resumes(**more: Any) -> Arrange:
    options = {"mode": "with_message", "message": "more"}

    def arrange(db: Door, session_id: str) -> dict[str, Any]:
        interrupted(db, session_id)
        return {
            "session_id": session_id,
            "agent_type": AGENT,
            "options": json.dumps(options),
            **named(more),
        }

    return arrange


def retries(**more: Any) -> Arrange:
    def arrange(db: Door, session_id: str) -> dict[str, Any]:
        failed(db, session_id)
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
    run_id = db.driven(session_id).run_id
    return {"session_id": session_id, "run_id": run_id, "status": "completed"}


def closes(db: Door, session_id: str) -> dict[str, Any]:
    given = ends(db, session_id)
    assert db.call("update_run_status", **given).outcome == "written"
    run_id = str(given["run_id"])
    return {"session_id": session_id, "status": "ended", "expect_run_id": run_id}


ENTRIES = [
    Entry("start-by-key", entries.start, "started", "attached", starts(request_key="k1")),
    Entry("start-by-run-id", entries.start, "started", "replayed", starts()),
    Entry("resume-by-key", entries.resume, "resumed", "attached", resumes(request_key="k1")),
    Entry("resume-by-run-id", entries.resume, "resumed", "replayed", resumes()),
    Entry("retry-by-key", entries.retry, "resumed", "attached", retries(request_key="k1")),
    Entry("retry-by-run-id", entries.retry, "resumed", "replayed", retries()),
    Entry("create_session", sessions.create_session, "created", "existing", creates),
    Entry("delete_session", sessions.delete_session, "deleted", "not_found", deletes),
    Entry(
        "fail_session_without_run",
        sessions.fail_session_without_run,
        "failed",
        "unchanged",
        fails,
    ),
    Entry("commit_run_start", runs.commit_run_start, "started", "replayed", commits_a_start),
    Entry("commit_terminal", runs.commit_terminal, "written", "unchanged", ends),
    Entry("update_run_status", runs.update_run_status, "written", "unchanged", ends),
    Entry("close_stream", streams.close_stream, "closed", "unchanged", closes),
]
