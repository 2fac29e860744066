"""lockgate.begin_call: a body that must not run twice says that it begins."""

import psycopg
import pytest

from tests.support.clock import Clock
from tests.support.door import Door, Drive, tool
from tests.support.proves import proves


@pytest.fixture
def drive(db: Door) -> Drive:
    """A run whose first reply called two tools."""
    drive = db.driven()
    drive.reply(1, "", tool("call-a"), tool("call-b"))
    return drive


@proves("begin_call.saved")
def test_the_first_body_may_begin(db: Door, drive: Drive, clock: Clock) -> None:
    now = clock.forward(seconds=1)
    answer = drive.begin(1, 2)
    other, begun = db.calls(drive.run_id)

    assert (answer.outcome, answer.stop_kind) == ("saved", None)
    assert (other.begun_at, begun.begun_at, begun.status) == (None, now, "pending")
    assert ["begunAt" in call for call in answer.calls] == [False, True]
    assert drive.result(1, 2).outcome == "saved"


@proves("begin_call.repeated")
def test_a_second_body_may_not(db: Door, drive: Drive) -> None:
    drive.begin(1, 1)
    drive.result(1, 2)
    with db.nothing_written():
        again = drive.begin(1, 1)
        answered = drive.begin(1, 2)
        nobodys = [drive.begin(1, 3), drive.begin(2, 1)]

    assert [each.outcome for each in (again, answered, *nobodys)] == ["repeated"] * 4
    assert (again.head_sequence, len(again.calls)) == (drive.head, 2)


def test_a_later_attempt_learns_that_a_body_was_begun(db: Door, drive: Drive) -> None:
    drive.begin(1, 1)
    db.requeue(drive.run_id, "raised")
    later = db.drive(drive.run_id, worker_id="worker-2")
    with db.nothing_written():
        assert later.begin(1, 1).outcome == "repeated"

    assert later.result(1, 1, "lost").outcome == "saved"


@proves("begin_call.fenced")
def test_an_attempt_that_is_over_begins_nothing(db: Door, drive: Drive) -> None:
    db.requeue(drive.run_id, "raised")
    with db.nothing_written():
        answer = drive.begin(1, 1)

    assert (answer.outcome, answer.calls) == ("fenced", None)


def test_it_says_that_a_stop_stands(db: Door, drive: Drive) -> None:
    db.call("abort", session_id="s1")

    assert drive.begin(1, 1).stop_kind == "abort"


def test_an_older_snapshot_is_refused(db: Door, drive: Drive) -> None:
    db.execute("begin isolation level serializable")
    with pytest.raises(psycopg.DatabaseError) as broken:
        drive.begin(1, 1)
    db.execute("rollback")

    assert broken.value.sqlstate == "LG001"
