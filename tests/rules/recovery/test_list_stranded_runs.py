"""lockgate.list_stranded_runs: what nothing executes, why, and since when."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.rules.recovery.test_sweep import SWEEPER, regular
from tests.support.clock import START, Clock
from tests.support.door import Door

LEASE_S = 5.0


def stranded(db: Door, **more: object) -> dict[UUID, Any]:
    with db.nothing_written():
        rows = db.call_many("list_stranded_runs", **more)
    assert [row.since for row in rows] == sorted(row.since for row in rows)
    return {row.run_id: row for row in rows}


def test_a_dead_owners_run_is_stranded_since_its_last_heartbeat(db: Door, clock: Clock) -> None:
    db.beat("worker-1")
    drive = db.driven(user_id="ann")
    clock.forward(seconds=2)
    heard = db.beat("worker-1").heartbeat_at
    clock.forward(seconds=LEASE_S - 1)
    assert stranded(db) == {}
    clock.forward(seconds=2)
    (row,) = stranded(db).values()

    assert (row.session_id, row.run_id, row.finding) == ("s1", drive.run_id, "owner_dead")
    assert (row.since, row.owner_id, row.attempt) == (heard, "worker-1", 1)
    assert (row.lost_attempts, row.last_failure_code, row.next_at) == (0, None, None)


def test_an_owner_that_nobody_heard_of_strands_its_run_since_the_claim(
    db: Door, clock: Clock
) -> None:
    clock.forward(seconds=1)
    claimed, run_id = clock.now, db.driven().run_id
    clock.forward(seconds=LEASE_S + 1)

    assert stranded(db)[run_id].since == claimed


def test_a_closed_workflow_strands_its_run_since_the_claim(db: Door, clock: Clock) -> None:
    db.beat()
    drive = db.driven()
    clock.forward(seconds=1)
    db.set_workflow(drive.run_id, status="ERROR")
    (row,) = stranded(db).values()

    assert (row.finding, row.since) == ("closed_owner", START)


def test_a_dispatch_that_was_never_claimed_strands_since_it_was_made(
    db: Door, clock: Clock
) -> None:
    run_id = db.start().run_id
    clock.forward(seconds=3)
    db.set_workflow(
        run_id,
        status="PENDING",
        executor_id="gone",
        started_at_epoch_ms=int(clock.now.timestamp() * 1000),
    )
    clock.forward(seconds=LEASE_S + 1)
    row = stranded(db)[run_id]

    assert (row.finding, row.owner_id) == ("never_claimed", None)
    assert row.since == START + timedelta(seconds=3)


def test_where_nobody_works_a_waiting_run_is_stranded_at_once(db: Door, clock: Clock) -> None:
    """A sweep leaves it alone for the dispatch limit; who watches wants to know."""
    run_id = db.start().run_id
    clock.forward(seconds=0.001)
    row = stranded(db)[run_id]

    assert (row.finding, row.since) == ("unserved", START)


def test_the_budget_is_told_with_the_last_failures_code(db: Door, clock: Clock) -> None:
    run_id = db.start().run_id
    for code in ("provider_unavailable", "framework_internal_error"):
        db.drive(run_id)
        answer = db.requeue(run_id, "raised", failure={"message": "boom", "code": code})
        assert stranded(db) == {}, "it waits for its next attempt"
        clock.forward(seconds=60)
    db.drive(run_id)
    clock.forward(seconds=LEASE_S + 1)
    row = stranded(db)[run_id]

    assert (row.attempt, row.lost_attempts) == (3, 2)
    assert (row.last_failure_code, row.next_at) == ("framework_internal_error", answer.next_at)


def test_a_wait_that_is_over_and_that_nobody_ends_strands_its_run(db: Door, clock: Clock) -> None:
    """The next sweep ends it; only where none comes is there something to tell."""
    db.beat(lease_ms=60_000)
    run_id = db.driven().run_id
    due = db.requeue(run_id, "raised").next_at
    for seconds in (1, LEASE_S):
        clock.forward(seconds=seconds)
        assert stranded(db) == {}
        assert db.call("recovery_metrics").stranded_runs == 0
    clock.forward(seconds=0.001)
    row = stranded(db)[run_id]

    assert (row.finding, row.since, row.next_at) == ("wait_over", due, due)
    assert db.call("recovery_metrics").stranded_runs == 1


def test_what_is_driven_suspended_or_over_is_not_listed(db: Door, clock: Clock) -> None:
    db.beat()
    db.driven("driven")
    db.finished("over")
    db.start("waiting")
    clock.forward(seconds=1)

    assert stranded(db) == {}


def test_a_page_has_the_longest_stranded_first(db: Door, clock: Clock) -> None:
    runs = []
    for number in range(3):
        runs.append(db.driven(f"s{number}").run_id)
        clock.forward(seconds=1)
    clock.forward(seconds=LEASE_S)

    assert list(stranded(db, limit=2)) == runs[:2]
    assert list(stranded(db, limit=0)) == runs[:1], "a page is never empty"


def runs_read(db: Door) -> int:
    """Return how many rows of runs the connection has looked at and not told of yet."""
    told: int = db.row(
        "select seq_tup_read + idx_tup_fetch as rows from pg_stat_xact_user_tables"
        " where relid = 'lockgate_store.runs'::regclass"
    ).rows
    return told


@pytest.mark.parametrize(
    ("rule", "given"),
    [
        ("sweep", {"worker_id": SWEEPER, "with_paused": False}),
        ("list_stops", {"worker_id": SWEEPER}),
        ("list_stranded_runs", {}),
        ("recovery_metrics", {}),
    ],
)
def test_what_looks_for_running_runs_reads_none_that_waits(
    db: Door, clock: Clock, rule: str, given: dict[str, object]
) -> None:
    """However many wait: in an idle installation it is asked many times a second."""
    db.driven()
    regular(db, clock)
    db.execute(
        "insert into lockgate_store.runs (session_id, run_id, turn, drive, start_sequence,"
        " started_at, status, drive_id, dispatch_at) select 'waits' || n, gen_random_uuid(), 1,"
        " r.drive, 1, r.started_at, 'suspended_client_tool', gen_random_uuid(), r.dispatch_at"
        " from lockgate_store.runs r, generate_series(1, 3000) n"
    )
    db.execute("analyze lockgate_store.runs")
    with db.connection.transaction():
        before = runs_read(db)
        db.call_many(rule, **given)
        read = runs_read(db) - before
    db.execute("delete from lockgate_store.runs where session_id like 'waits%%'")

    assert read == 1, "the one that runs"
