"""lockgate.interrupt: a stop belongs to one run, and is answered at once."""

from typing import Any
from uuid import uuid4

import psycopg
import pytest

from tests.support import standings
from tests.support.clock import Clock
from tests.support.door import Door
from tests.support.proves import proves
from tests.support.store_client import StoreClient
from tests.support.suspensions import approval, client, decision, submit, suspended, unpaired


def interrupt(db: Door, session_id: str = "s1", **more: Any) -> Any:
    return db.call("interrupt", session_id=session_id, **more)


@proves("interrupt.stopping")
def test_the_run_that_is_live_is_told_and_named(db: Door, clock: Clock) -> None:
    drive = db.driven()
    version = db.session().version
    now = clock.forward(seconds=3)
    answer = interrupt(db, reason="enough")
    run = db.run(drive.run_id)

    assert (answer.outcome, answer.run_id, answer.run_status) == (
        "stopping",
        drive.run_id,
        "running",
    )
    assert (run.status, run.stop_kind, run.stop_reason) == ("running", "interrupt", "enough")
    assert run.stop_requested_at == now
    assert db.session().version == version, "nothing ends at once"
    assert drive.append("text").stop_kind == "interrupt"
    assert drive.finish("stopped").run_status == "interrupted"


@proves("interrupt.stopping")
def test_the_run_that_is_named_is_stopped_before_anybody_claimed_it(db: Door) -> None:
    run_id = db.start().run_id

    assert interrupt(db, run_id=run_id).outcome == "stopping"
    assert db.claim(run_id).stop_kind == "interrupt"


def test_a_repeat_writes_nothing(db: Door, clock: Clock) -> None:
    drive = db.driven()
    interrupt(db, reason="first")
    clock.forward(seconds=1)
    with db.nothing_written():
        again = interrupt(db, reason="second")

    assert again.outcome == "stopping"
    assert db.run(drive.run_id).stop_reason == "first"


def test_a_reason_is_kept_to_a_length(db: Door) -> None:
    drive = db.driven()
    interrupt(db, reason="x" * 5000)

    assert db.run(drive.run_id).stop_reason == "x" * 256


@proves("interrupt.not_running")
def test_a_late_stop_never_touches_a_later_run(db: Door) -> None:
    first = db.finished()
    second = db.driven(say="more")
    with db.nothing_written():
        late = interrupt(db, run_id=first)

    assert (late.outcome, late.run_id, late.run_status) == ("not_running", first, "completed")
    assert db.run(second.run_id).stop_kind is None


@proves("interrupt.not_running")
def test_there_may_be_nothing_to_stop(db: Door) -> None:
    db.create_session()
    strange = uuid4()
    with db.nothing_written():
        never = interrupt(db)
        nobodys = interrupt(db, run_id=strange)
    run_id = db.finished("s2")
    with db.nothing_written():
        ended = interrupt(db, "s2")
        elsewhere = interrupt(db, run_id=run_id)

    assert (never.outcome, never.run_id, never.run_status) == ("not_running", None, None)
    assert (nobodys.outcome, nobodys.run_id) == ("not_running", strange)
    assert (ended.outcome, ended.run_id, ended.run_status) == ("not_running", run_id, "completed")
    assert (elsewhere.outcome, elsewhere.run_status) == ("not_running", None), "it is another's"


def test_a_run_whose_end_has_landed_is_not_running(db: Door) -> None:
    db.beat()
    run_id = db.driven().run_id
    StoreClient(db).end(run_id, "completed")
    with db.nothing_written():
        assert interrupt(db).outcome == "not_running"


@proves("interrupt.session_not_found")
def test_another_users_session_is_none(db: Door) -> None:
    db.driven(user_id="ann")
    with db.nothing_written():
        answers = [
            interrupt(db, acting_user_id="bob"),
            interrupt(db, "s9"),
            interrupt(db, tenant_id="other"),
        ]

    assert {(a.outcome, a.run_id, a.run_status) for a in answers} == {
        ("session_not_found", None, None)
    }
    assert interrupt(db, acting_user_id="ann").outcome == "stopping"


@proves("interrupt.paused")
def test_a_suspended_run_is_paused_and_nothing_is_written(db: Door) -> None:
    drive = suspended(db)
    with db.nothing_written():
        by_default = interrupt(db)
        by_name = interrupt(db, run_id=drive.run_id, include_suspended=None)

    assert [(a.outcome, a.run_id, a.run_status) for a in (by_default, by_name)] == [
        ("paused", drive.run_id, "suspended_client_tool")
    ] * 2
    assert db.claim(submit(db).run_id).stop_kind is None


def test_an_older_snapshot_is_refused(db: Door) -> None:
    db.driven()
    db.execute("begin isolation level repeatable read")
    with pytest.raises(psycopg.DatabaseError) as broken:
        interrupt(db)
    db.execute("rollback")

    assert broken.value.sqlstate == "LG001"


# A suspended run that is flagged: its own continuation honours it, and nobody else.


def flagged(db: Door) -> Any:
    drive = suspended(db, client("a"), client("b"))
    answer = interrupt(db, include_suspended=True, reason="enough")
    assert (answer.outcome, answer.run_status) == ("stopping", "suspended_client_tool")
    return drive


def test_the_run_that_goes_on_by_a_submit_ends_before_any_model_call(db: Door) -> None:
    first = flagged(db)
    assert submit(db, "a").outcome == "accepted"
    assert db.session().status == "paused", "nothing ends at once"
    run_id = submit(db, "b").run_id
    claimed = db.claim(run_id)
    ended = db.call("finish_run", session_id="s1", run_id=run_id, attempt=1, status="stopped")

    assert claimed.stop_kind == "interrupt"
    assert (ended.run_status, db.run(run_id).stop_reason) == ("interrupted", "enough")
    assert db.run(first.run_id).status == "superseded"
    assert unpaired(db) == set()
    assert db.claim(db.resume().run_id).stop_kind is None, "it was honoured"


def test_the_run_that_goes_on_by_a_resume_honours_it(db: Door) -> None:
    standings.answered(db)
    interrupt(db, include_suspended=True)

    assert db.claim(db.resume().run_id).stop_kind == "interrupt"


def test_a_start_does_not_carry_it(db: Door) -> None:
    flagged(db)
    answer = db.start(say="new")

    assert (answer.outcome, db.run(answer.run_id).stop_kind) == ("started", None)


def test_a_retry_of_what_failed_does_not_carry_it(db: Door) -> None:
    flagged(db)
    submit(db, "a")
    drive = db.drive(submit(db, "b").run_id)
    drive.finish("failed")
    answer = db.retry()

    assert (answer.outcome, db.run(answer.run_id).stop_kind) == ("resumed", None)


def test_a_flag_rides_on_through_a_batch_that_was_approved(db: Door) -> None:
    suspended(db, approval())
    interrupt(db, include_suspended=True)
    run_id = submit(db, "pay-1", answer=decision(db, True)).run_id

    assert db.claim(run_id).stop_kind == "interrupt"
    ended = db.call("finish_run", session_id="s1", run_id=run_id, attempt=1, status="stopped")
    assert (ended.run_status, unpaired(db)) == ("interrupted", set())
