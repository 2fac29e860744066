"""lockgate.abort: it ends a run failed, outranks an interrupt, and leaves a paused run alone."""

from typing import Any

import psycopg
import pytest

from tests.support.clock import Clock
from tests.support.door import Door
from tests.support.proves import proves
from tests.support.suspensions import submit, suspended


def abort(db: Door, session_id: str = "s1", **more: Any) -> Any:
    return db.call("abort", session_id=session_id, **more)


@proves("abort.stopping")
def test_a_run_ends_failed_with_the_reason_and_without_an_output(db: Door) -> None:
    drive = db.driven()
    answer = abort(db, reason="enough")
    drive.finish("stopped")
    run = db.run(drive.run_id)

    assert (answer.outcome, answer.run_id) == ("stopping", drive.run_id)
    assert (run.status, run.output) == ("failed", None)
    assert run.error_detail == {
        "message": "enough",
        "code": "framework_cancelled",
        "category": "framework",
        "retryable": False,
    }


@proves("abort.stopping")
def test_an_abort_outranks_an_interrupt_and_not_the_other_way_round(db: Door, clock: Clock) -> None:
    drive = db.driven()
    db.call("interrupt", session_id="s1", reason="softly")
    clock.forward(seconds=1)
    abort(db, reason="hard")
    with db.nothing_written():
        assert db.call("interrupt", session_id="s1", reason="softly").outcome == "stopping"
        assert abort(db, reason="harder").outcome == "stopping"

    assert (db.run(drive.run_id).stop_kind, db.run(drive.run_id).stop_reason) == ("abort", "hard")
    assert drive.finish("stopped").run_status == "failed"


@proves("abort.paused")
def test_a_suspended_run_is_not_aborted(db: Door) -> None:
    drive = suspended(db)
    with db.nothing_written():
        answer = abort(db)
        named = abort(db, run_id=drive.run_id)

    assert (answer.outcome, answer.run_id) == ("paused", drive.run_id)
    assert (named.outcome, named.run_status) == ("paused", "suspended_client_tool")
    assert submit(db).outcome == "accepted"


def test_an_abort_outranks_a_flag_that_a_suspended_run_carries_over(db: Door) -> None:
    suspended(db)
    db.call("interrupt", session_id="s1", include_suspended=True)
    run_id = submit(db).run_id
    abort(db, run_id=run_id)

    assert db.claim(run_id).stop_kind == "abort"


@proves("abort.not_running")
def test_a_late_abort_never_touches_a_later_run(db: Door) -> None:
    first = suspended(db)
    run_id = submit(db).run_id
    with db.nothing_written():
        late = abort(db, run_id=first.run_id)

    assert (late.outcome, late.run_status) == ("not_running", "superseded")
    assert db.run(run_id).stop_kind is None


@proves("abort.session_not_found")
def test_another_users_session_is_none(db: Door) -> None:
    drive = db.driven(user_id="ann")
    with db.nothing_written():
        by_default = abort(db, acting_user_id="bob")
        by_name = abort(db, run_id=drive.run_id, acting_user_id="bob")

    assert [(a.outcome, a.run_id) for a in (by_default, by_name)] == [
        ("session_not_found", None)
    ] * 2


def test_an_older_snapshot_is_refused(db: Door) -> None:
    db.driven()
    db.execute("begin isolation level repeatable read")
    with pytest.raises(psycopg.DatabaseError) as broken:
        abort(db)
    db.execute("rollback")

    assert broken.value.sqlstate == "LG001"
