"""Every state that a sweep can meet, built by the rules or by plain SQL, and what it makes of it.

The rows of reference/state.md 7.3 and 7.4. The sweeps are a worker's own, without a process.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from lockgate.database import Database
from lockgate.errors import RuleBroken
from lockgate.recovery import Sweeper
from lockgate.rules import recovery
from lockgate.tally import Tally
from lockgate.worker import DRIVE_VERSION
from tests.support import standings
from tests.support.connections import connect
from tests.support.door import Door
from tests.support.family import begin, calling
from tests.support.lost_states import (
    LONG_AGO,
    SWEEPER,
    aged,
    closed_owner,
    ended_with_its_stream_open,
    never_claimed,
    owner_dead,
    stopped_and_lost,
    suspension_landed,
    suspension_without_its_stream,
    terminal_landed,
    terminal_landed_on_a_suspended_run,
    unserved,
    waits_too_long,
    without_a_workflow,
)
from tests.support.proves import case
from tests.support.suspensions import client, forget_to_continue, suspended


@pytest.fixture
def db(database_url: str) -> Iterator[Door]:
    with closing(connect(database_url)) as connection:
        door = Door(connection)
        door.call("register_consumer", consumer="hook")
        door.beat(SWEEPER, lease_ms=60_000)
        door.execute(f"update lockgate_store.workers set regular_since = {LONG_AGO}")
        yield door


def sweep(url: str, **more: Any) -> int:
    """Sweep once, as a worker does."""

    async def once() -> int:
        database = Database(url, pool_size=2)
        await database.open()
        try:
            return await Sweeper(database, SWEEPER, **more).sweep()
        finally:
            await database.close()

    return asyncio.run(once())


@dataclass(frozen=True)
class Left:
    """What a sweep leaves of a run: its status, its session's and stream's, and how it settled."""

    run: str
    session: str
    stream: str
    settled: tuple[str, ...]
    attempt_of_mine: bool = False  # A workflow of its own waits for it.


def left(db: Door, run_id: UUID) -> Left:
    run = db.run(run_id)
    session, stream = db.session(run.session_id), db.stream(run.session_id)
    waits = db.workflow(run.drive_id)
    return Left(
        run.status,
        session.status,
        stream.status,
        tuple(standings.statuses(db, run_id)),
        run.status == "running"
        and run.owner_id is None
        and (waits.status, waits.application_version) == ("ENQUEUED", DRIVE_VERSION),
    )


REQUEUED = Left("running", "active", "active", (), True)
STATES: list[tuple[Callable[[Door], UUID], Left]] = [
    (terminal_landed, Left("completed", "completed", "ended", ("completed",))),
    (
        terminal_landed_on_a_suspended_run,
        Left("interrupted", "interrupted", "ended", ("interrupted", "suspended_client_tool")),
    ),
    (
        suspension_landed,
        Left("suspended_client_tool", "paused", "paused", ("suspended_client_tool",)),
    ),
    (
        suspension_without_its_stream,
        Left("suspended_client_tool", "paused", "paused", ("suspended_client_tool",)),
    ),
    (
        ended_with_its_stream_open("completed"),
        Left("completed", "completed", "ended", ("completed",)),
    ),
    (ended_with_its_stream_open("failed"), Left("failed", "failed", "failed", ("failed",))),
    (
        stopped_and_lost("interrupt"),
        Left("interrupted", "interrupted", "ended", ("interrupted",)),
    ),
    (stopped_and_lost("abort"), Left("failed", "failed", "failed", ("failed",))),
    (owner_dead, REQUEUED),
    (unserved, REQUEUED),
    (never_claimed, REQUEUED),
    (waits_too_long, REQUEUED),
    *((closed_owner(s), REQUEUED) for s in ("SUCCESS", "ERROR", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")),
    (closed_owner("ERROR", claimed=False), REQUEUED),
    (closed_owner("CANCELLED"), Left("failed", "failed", "failed", ("failed",))),
    (without_a_workflow, REQUEUED),
]


@case(20)
@pytest.mark.parametrize(("make", "expected"), STATES)
def test_a_state_that_nothing_would_leave_is_left_by_one_sweep(
    db: Door, database_url: str, make: Callable[[Door], UUID], expected: Left
) -> None:
    run_id = make(db)
    aged(db)
    enqueued = sweep(database_url)

    assert left(db, run_id) == expected
    assert enqueued == (1 if expected.attempt_of_mine else 0)
    before = left(db, run_id)
    db.execute("update lockgate_store.workers set draining = false")
    assert sweep(database_url) == 0
    assert left(db, run_id) == before, "a second sweep changes nothing"
    assert db.start(say="again", concurrent_entry="interrupt_previous").outcome in (
        "started",
        "interrupting",
    )


def test_a_wait_that_is_over_is_no_takeover(db: Door, database_url: str) -> None:
    taken, waiting = owner_dead(db), waits_too_long(db, "s2")
    aged(db)
    tally = Tally()
    assert sweep(database_url, tally=tally) == 2
    assert [db.run(run_id).attempt for run_id in (taken, waiting)] == [2, 2]
    assert (tally.takeovers, tally.exhausted) == (1, 0)


@case(20)
def test_a_batch_that_is_complete_goes_on(db: Door, database_url: str) -> None:
    drive = suspended(db, client("a"), client("b"))
    forget_to_continue(db, drive.run_id)
    assert sweep(database_url, auto_resume=False) == 0, "it stays paused until a resume"
    assert db.session().status == "paused"
    assert sweep(database_url) == 1
    assert db.run(db.session().current_run_id).drive == "continue"


def test_a_sub_agents_end_that_nobody_told_goes_on(db: Door, database_url: str) -> None:
    parent = calling(db, "a")
    begin(parent, "a")
    parent.suspend()
    db.execute(
        "update lockgate_store.children set status = 'completed', ended_at = clock_timestamp()"
    )
    assert sweep(database_url) == 1
    assert db.run(db.session("parent").current_run_id).drive == "continue"


def test_a_session_that_never_ran_is_failed(db: Door, database_url: str) -> None:
    db.create_session()
    assert sweep(database_url) == 0
    assert db.session().status == "active"
    aged(db)
    assert sweep(database_url) == 0
    assert db.session().status == "failed"
    assert db.rows("select * from lockgate_store.streams") == []
    assert db.rows("select * from lockgate_store.settlements") == []


def test_where_runs_do_not_go_on_by_themselves_a_lost_one_is_paused(
    db: Door, database_url: str
) -> None:
    run_id = owner_dead(db)
    aged(db)
    assert sweep(database_url, auto_resume=False) == 0
    assert left(db, run_id) == Left(
        "suspended_step_partial", "paused", "paused", ("suspended_step_partial",)
    )
    assert db.resume().outcome == "resumed"


def test_the_last_attempt_of_a_budget_ends_the_run(db: Door, database_url: str) -> None:
    run_id = owner_dead(db)
    db.requeue(run_id, "raised", failure={"message": "boom"})
    db.drive(run_id)
    db.execute("update dbos.workflow_status set status = 'PENDING', executor_id = 'worker-1'")
    aged(db)
    assert sweep(database_url, max_attempts=2) == 0
    assert left(db, run_id) == Left("failed", "failed", "failed", ("failed",))
    detail = db.run(run_id).error_detail
    assert (detail["code"], detail["retryable"]) == ("framework_auto_resume_exhausted", True)
    assert detail["cause"]["message"] == "The worker that drove the run was lost"
    assert db.retry().outcome == "resumed"


def test_one_session_that_cannot_be_mended_keeps_no_other_from_it(
    db: Door, database_url: str
) -> None:
    """Its row is damaged, so every sweep fails on it; the others are found all the same."""
    broken = owner_dead(db)
    run_ids = [db.driven(f"s{n}").run_id for n in range(2, 8)]
    db.execute("update dbos.workflow_status set status = 'PENDING', executor_id = 'worker-1'")
    db.execute(
        "alter table lockgate_store.streams add constraint it_is_damaged"
        " check (session_id <> 's1' or attempt = 1) not valid"
    )
    aged(db)
    assert sweep(database_url) == len(run_ids)
    assert all(db.run(run_id).attempt == 2 for run_id in run_ids)
    assert db.run(broken).attempt == 1
    assert db.run(broken).status == "running"


def test_a_run_whose_rows_allow_no_takeover_ends_typed(db: Door, database_url: str) -> None:
    run_id = owner_dead(db)
    db.execute(
        "insert into lockgate_store.recoveries (session_id, run_id, attempts, next_at)"
        " values ('s1', %s, 2147483647, clock_timestamp())",
        run_id,
    )
    aged(db)
    assert sweep(database_url) == 0
    assert left(db, run_id) == Left("failed", "failed", "failed", ("failed",))
    detail = db.run(run_id).error_detail
    assert (detail["code"], detail["retryable"]) == ("framework_store_corrupt", False)


def test_a_run_that_another_sweep_could_take_over_is_not_ended(
    db: Door, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rows were damaged for one sweep, and mended for the next."""
    run_id = owner_dead(db)
    aged(db)

    async def meets_damage(*_: Any, **__: Any) -> Any:
        assert db.requeue(run_id, "owner_dead").outcome == "requeued"
        db.drive(run_id)
        raise RuleBroken("22003")

    monkeypatch.setattr(recovery, "requeue_run", meets_damage)
    assert sweep(database_url) == 0
    run = db.run(run_id)
    assert (run.status, run.attempt, run.owner_id) == ("running", 2, "worker-1")
