"""Sessions as an entry may find them, each made by the rules: the rows of reference/state.md 3.8.

Each but the first two has a run with one committed step; its id is returned.
"""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from tests.support.door import WORKER, Door, Drive, tool
from tests.support.store_client import StoreClient
from tests.support.suspensions import delegated, subagent

ANSWER = '{"success": true, "result": "yes"}'


def stepped(db: Door, **more: Any) -> Drive:
    """Drive a run through one step: three messages and a checkpoint."""
    drive = db.driven(**more)
    drive.reply(1, "let me look", tool("call-1"))
    drive.result(1, 1)
    drive.step(1)
    return drive


def no_session(db: Door) -> None:
    """Nobody has been here."""


def never_run(db: Door) -> None:
    db.create_session()


def failed_without_run(db: Door) -> None:
    db.create_session()
    db.call("fail_session_without_run", session_id="s1", error_detail={"message": "no model"})


def executing(db: Door) -> UUID:
    db.beat()
    return stepped(db).run_id


def waiting(db: Door) -> UUID:
    """A run that no worker has claimed, and one lives that will."""
    db.beat()
    run_id: UUID = db.start().run_id
    return run_id


def executing_as_paused(db: Door) -> UUID:
    """A run whose start, a store client's, wrote the session as paused."""
    db.beat()
    run_id = started_as_paused(db)
    db.drive(run_id)
    return run_id


def started_as_paused(db: Door) -> UUID:
    db.create_session()
    started = StoreClient(db).start(session_status="paused", messages='"hi"')
    run_id: UUID = started.run_id
    return run_id


def stranded(db: Door) -> UUID:
    return stepped(db).run_id


def stranded_as_paused(db: Door) -> UUID:
    run_id = started_as_paused(db)
    db.drive(run_id)
    return run_id


def awaiting_calls(db: Door, *, answered: str = "call-b") -> UUID:
    """A run suspended on two calls, one of them answered."""
    drive = stepped(db)
    drive.reply(2, "your turn", tool("call-b"), tool("call-c"))
    db.execute("update lockgate_store.tool_calls set kind = 'client' where step = 2")
    answer(db, answered)
    StoreClient(db).suspend(drive.run_id)
    return drive.run_id


def awaiting_children(db: Door) -> UUID:
    """A run suspended on a sub-agent, which has not ended."""
    drive = stepped(db)
    drive.reply(2, "somebody's turn", subagent("call-b"))
    delegated(db, drive, "call-b")
    assert drive.suspend(2).run_status == "suspended_awaiting_children"
    return drive.run_id


def answered(db: Door) -> UUID:
    """A suspended run whose whole batch is answered."""
    run_id = awaiting_calls(db)
    answer(db, "call-c")
    return run_id


def demoted(db: Door) -> UUID:
    run_id = stepped(db).run_id
    StoreClient(db).suspend(run_id, "suspended_step_partial")
    return run_id


def completed(db: Door) -> UUID:
    return ended(db, "completed")


def failed(db: Door) -> UUID:
    return ended(db, "failed")


def interrupted(db: Door) -> UUID:
    db.beat()
    drive = stepped(db)
    db.start(say="stop", concurrent_entry="interrupt_previous")
    assert drive.finish("stopped").run_status == "interrupted"
    return drive.run_id


def superseded(db: Door) -> UUID:
    """A run that a store client gave up, and started no other."""
    run_id = stepped(db).run_id
    StoreClient(db).set_run(run_id, "superseded")
    StoreClient(db).close(run_id, "ended")
    return run_id


def ended(db: Door, status: str) -> UUID:
    drive = stepped(db)
    assert drive.finish(status, error_detail=None).run_status == status
    return drive.run_id


def landed(status: str, *, suspended: bool) -> Callable[[Door], UUID]:
    """Return how a store client dies between the terminal commit and the run's status."""

    def make(db: Door) -> UUID:
        db.beat()
        run_id = awaiting_calls(db) if suspended else stepped(db).run_id
        assert StoreClient(db).end(run_id, status).outcome == "written"
        return run_id

    return make


def answer(db: Door, tool_call_id: str) -> None:
    """Store a client's answer to a pending call."""
    db.execute(
        "update lockgate_store.tool_calls set status = 'answered', response = %s,"
        " submitted_at = lockgate.now() where tool_call_id = %s",
        ANSWER,
        tool_call_id,
    )


def worker_dies(db: Door) -> None:
    """Make the worker one that nobody hears any more."""
    db.execute("delete from lockgate_store.workers where worker_id = %s", WORKER)


def statuses(db: Door, run_id: UUID) -> list[str]:
    """Return in which statuses a run has settled."""
    rows = db.rows(
        "select status from lockgate_store.settlements where run_id = %s order by status", run_id
    )
    return [row.status for row in rows]
