"""A runtime that is not ours and keeps its sessions in our store: the four rules made for it.

It writes the parts of an end apart: the session, then the run, then the stream.
"""

from typing import Any
from uuid import UUID, uuid4

from tests.support.door import Door


class StoreClient:
    """What such a runtime sends about one session."""

    def __init__(self, door: Door, session_id: str = "s1", **more: object) -> None:
        self._door = door
        self._name = {"session_id": session_id, **more}

    def plan(self) -> dict[str, Any]:
        """Read what a run start expects to find, as its plan would."""
        (row,) = self._door.rows(
            "select s.current_run_id, r.status as run_status, s.status"
            "  from lockgate_store.sessions s"
            "  left join lockgate_store.runs r on r.run_id = s.current_run_id"
            " where s.session_id = %s and s.tenant_id = %s",
            self._name["session_id"],
            self._name.get("tenant_id", ""),
        ) or [None]
        run_id = row and row.current_run_id
        return {
            "currentRunId": str(run_id) if run_id else None,
            "currentRunStatus": row and row.run_status,
            "sessionStatus": row and row.status,
        }

    def start(self, run_id: UUID | None = None, **more: Any) -> Any:
        """Commit a run start as it was planned just now; `more` are other arguments."""
        given = {
            "run_id": run_id or uuid4(),
            "drive": "start",
            "session_status": "active",
            "expect": self.plan() if "expect" not in more else None,
            **more,
        }
        return self._door.call("commit_run_start", **self._name, **given)

    def end(self, run_id: UUID | None, status: str, **more: object) -> Any:
        """Write the session's end: the first part."""
        given = {"run_id": run_id, "status": status, **more}
        return self._door.call("commit_terminal", **{**self._name, **given})

    def set_run(self, run_id: UUID | None, status: str, **more: object) -> Any:
        """Write the run's status: the second part."""
        given = {"run_id": run_id, "status": status, **more}
        return self._door.call("update_run_status", **{**self._name, **given})

    def close(self, run_id: object, status: object, **more: object) -> Any:
        """Close the stream: the third part."""
        given = {"expect_run_id": str(run_id), "status": status, **more}
        return self._door.call("close_stream", **{**self._name, **given})

    def suspend(self, run_id: UUID, status: str = "suspended_client_tool") -> None:
        """Write both parts of a suspension."""
        assert self.set_run(run_id, status).outcome == "written"
        assert self.close(run_id, "paused").outcome == "closed"
