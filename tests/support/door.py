"""The rules as an application calls them, over one connection, with the tests' usual values.

An answer is a row whose columns are attributes. A dict goes down as jsonb, a text as it is.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from psycopg.rows import kwargs_row
from psycopg.types.json import Jsonb

from tests.support.connections import Connection
from tests.support.store import dump

WORKER = "worker-1"
AGENT = "support"


class Door:
    """One connection's way to the rules."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def call(self, function: str, **parameters: object) -> Any:
        """Call a rule that answers one row; parameters are named without their `p_`."""
        (answer,) = self.call_many(function, **parameters)
        return answer

    def call_many(self, function: str, **parameters: object) -> list[Any]:
        """Call a rule that answers a set of rows."""
        named = ", ".join(f"p_{name} => %({name})s" for name in parameters)
        statement = f"select * from lockgate.{function}({named})"
        with self.connection.cursor(row_factory=kwargs_row(SimpleNamespace)) as cursor:
            cursor.execute(
                statement.encode(), {name: _adapted(value) for name, value in parameters.items()}
            )
            return list(cursor.fetchall())

    def rows(self, query: str, *values: object) -> list[Any]:
        """Read rows of whatever a test wants to see."""
        with self.connection.cursor(row_factory=kwargs_row(SimpleNamespace)) as cursor:
            cursor.execute(query.encode(), values)
            return list(cursor.fetchall())

    def row(self, query: str, *values: object) -> Any:
        """Read exactly one row."""
        (row,) = self.rows(query, *values)
        return row

    def execute(self, statement: str, *values: object) -> None:
        """Change what no rule would change."""
        self.connection.execute(statement.encode(), values)

    @contextmanager
    def nothing_written(self) -> Iterator[None]:
        """Hold that a block leaves every row of the store and of DBOS as it was, to the byte."""
        before = dump(self.connection)
        yield
        assert dump(self.connection) == before

    # Entries.

    def start(self, session_id: str = "s1", say: object = "hi", **more: object) -> Any:
        """Start a run with a message; `input` in `more` replaces the whole input."""
        given = {"agent_type": AGENT, "input": {"message": say}, **more}
        return self.call("start", session_id=session_id, **given)

    def plan_start(self, session_id: str = "s1", say: object = "hi", **more: object) -> Any:
        """Ask what `start` with the same arguments would say."""
        given = {"agent_type": AGENT, "input": {"message": say}, **more}
        return self.call("plan_start", session_id=session_id, **given)

    def resume(self, session_id: str = "s1", **more: Any) -> Any:
        """Resume in mode continue, or by the `options` in `more`."""
        given = {"agent_type": AGENT, "options": {"mode": "continue"}, **more}
        return self.call("resume", session_id=session_id, **given)

    def retry(self, session_id: str = "s1", **more: Any) -> Any:
        return self.call("retry", session_id=session_id, **{"agent_type": AGENT, **more})

    def create_session(self, session_id: str = "s1", **more: object) -> Any:
        return self.call("create_session", session_id=session_id, **{"agent_type": AGENT, **more})

    def delete_session(self, session_id: str = "s1", **more: object) -> Any:
        return self.call("delete_session", session_id=session_id, **more)

    # Reads.

    def session(self, session_id: str = "s1", tenant_id: str = "") -> Any:
        return self.row(
            "select * from lockgate_store.sessions where tenant_id = %s and session_id = %s",
            tenant_id,
            session_id,
        )

    def stream(self, session_id: str = "s1", tenant_id: str = "") -> Any:
        return self.row(
            "select * from lockgate_store.streams where tenant_id = %s and session_id = %s",
            tenant_id,
            session_id,
        )

    def run(self, run_id: UUID) -> Any:
        return self.row("select * from lockgate_store.runs where run_id = %s", run_id)

    def messages(self, session_id: str = "s1") -> list[Any]:
        return self.rows(
            "select * from lockgate_store.messages where session_id = %s order by seq", session_id
        )

    def chunks(self, session_id: str = "s1") -> list[dict[str, Any]]:
        """Read a session's chunks in their order."""
        return [
            row.chunk
            for row in self.rows(
                "select u.chunk from lockgate_store.stream_chunks c,"
                " unnest(c.chunks) with ordinality u(chunk, place)"
                " where c.session_id = %s order by c.last_sequence, u.place",
                session_id,
            )
        ]

    def calls(self, run_id: UUID) -> list[Any]:
        return self.rows(
            "select * from lockgate_store.tool_calls where run_id = %s order by step, ordinal",
            run_id,
        )

    # Drives and recovery.

    def beat(self, worker_id: str = WORKER, **more: object) -> Any:
        return self.call("heartbeat", worker_id=worker_id, **more)

    def claim(self, run_id: UUID, *, worker_id: str = WORKER, **more: object) -> Any:
        """Claim a run for its current drive, or for the drive_id in `more`."""
        run = self.run(run_id)
        given = {"tenant_id": run.tenant_id, "drive_id": run.drive_id, **more}
        return self.call(
            "claim_run", session_id=run.session_id, run_id=run_id, worker_id=worker_id, **given
        )

    def drive(self, run_id: UUID, *, worker_id: str = WORKER) -> "Drive":
        """Claim a run and return what drives it."""
        answer = self.claim(run_id, worker_id=worker_id)
        assert answer.outcome == "claimed"
        return Drive(self, run_id, answer.attempt, answer.head_sequence)

    def driven(self, session_id: str = "s1", say: object = "hi", **more: object) -> "Drive":
        """Start a run and claim it, for a worker that nobody has heard of yet."""
        started = self.start(session_id, say, **more)
        assert started.outcome == "started", started
        return self.drive(started.run_id)

    def finished(self, session_id: str = "s1", say: object = "hi", **more: object) -> UUID:
        """Start a run, drive it to its end, and return its id."""
        drive = self.driven(session_id, say, **more)
        drive.reply(1, "hello")
        assert drive.finish().outcome == "finished"
        return drive.run_id

    def requeue(
        self, run_id: UUID, finding: str, *, worker_id: str = WORKER, **more: object
    ) -> Any:
        run = self.run(run_id)
        given = {"tenant_id": run.tenant_id, "drive_id": run.drive_id, **more}
        return self.call(
            "requeue_run",
            session_id=run.session_id,
            run_id=run_id,
            finding=finding,
            worker_id=worker_id,
            **given,
        )

    def workflow(self, drive_id: UUID) -> Any:
        """Read what DBOS says of an attempt's workflow."""
        return self.row(
            "select * from dbos.workflow_status where workflow_uuid = %s", str(drive_id)
        )

    def set_workflow(self, run_id: UUID, **columns: object) -> None:
        """Write what DBOS would write about the workflow of a run's current attempt."""
        changes = ", ".join(f"{column} = %s" for column in columns)
        self.execute(
            f"update dbos.workflow_status set {changes} where workflow_uuid = %s",
            *columns.values(),
            str(self.run(run_id).drive_id),
        )


class Drive:
    """One attempt: what a worker that claimed a run may send for it."""

    def __init__(self, door: Door, run_id: UUID, attempt: int, head: int) -> None:
        run = door.run(run_id)
        self.door = door
        self.run_id = run_id
        self.drive_id: UUID = run.drive_id
        self.attempt = attempt
        self.head = head
        self._name: dict[str, object] = {
            "session_id": run.session_id,
            "run_id": run_id,
            "tenant_id": run.tenant_id,
        }

    def append(self, *texts: str, after: int | None = None) -> Any:
        """Append a batch of text chunks after the writer's own last sequence, or after `after`."""
        answer = self._call(
            "append_chunks",
            after=self.head if after is None else after,
            chunks=texts_as_chunks(texts),
        )
        if answer.outcome == "appended":
            self.head = answer.head_sequence
        return answer

    def reply(self, step: int = 1, say: str = "", *calls: dict[str, Any], **more: object) -> Any:
        """Save a reply that says something and calls these tools, as `tool()` gives them."""
        content = [{"type": "text", "text": say}] if say else []
        return self._moved(
            self._call(
                "commit_reply", step=step, content=Jsonb(content), calls=Jsonb(list(calls)), **more
            )
        )

    def result(self, step: int, ordinal: int, result: object = "done", **more: object) -> Any:
        response = {"success": True, "result": result}
        return self._moved(
            self._call("commit_result", step=step, ordinal=ordinal, response=response, **more)
        )

    def step(self, step: int, **more: object) -> Any:
        return self._moved(self._call("commit_step", step=step, **more))

    def begin(self, step: int, ordinal: int) -> Any:
        return self._moved(self._call("begin_call", step=step, ordinal=ordinal))

    def suspend(self, step: int = 1, **more: object) -> Any:
        return self._call("suspend_run", step=step, **more)

    def finish(self, status: str = "completed", **more: object) -> Any:
        return self._call("finish_run", status=status, **more)

    def every_write(self) -> list[tuple[str, Any]]:
        """Try each write that a drive has; for a drive that is over, all must be fenced."""
        return [
            ("append_chunks", self.append("late")),
            ("commit_reply", self.reply(1, "late")),
            ("commit_reply with a call", self.reply(1, "late", tool())),
            ("commit_result", self.result(1, 1)),
            ("commit_step", self.step(1)),
            ("begin_call", self.begin(1, 1)),
            ("suspend_run", self.suspend()),
            ("finish_run", self.finish()),
            ("finish_run stopped", self.finish("stopped")),
        ]

    def _call(self, function: str, **parameters: object) -> Any:
        return self.door.call(function, **self._name, attempt=self.attempt, **parameters)

    def _moved(self, answer: Any) -> Any:
        if answer.head_sequence is not None:
            self.head = answer.head_sequence
        return answer


def tool(
    model_id: str | None = "call-a", name: str = "look_up", **arguments: object
) -> dict[str, Any]:
    """Return a call as a model names it."""
    return {"id": model_id, "toolName": name, "input": arguments}


def texts_as_chunks(texts: Sequence[str]) -> list[Jsonb]:
    return [Jsonb({"type": "text_delta", "delta": text}) for text in texts]


def _adapted(value: object) -> object:
    return Jsonb(value) if isinstance(value, dict) else value
