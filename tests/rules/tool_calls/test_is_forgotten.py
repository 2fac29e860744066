"""How long a tombstone is kept, and that this was said when its call was registered."""

from typing import Any

import pytest

from tests.support.clock import Clock
from tests.support.door import Door
from tests.support.suspensions import approval, client, decision, submit, suspended


def gone_on(db: Door, run_id: Any) -> None:
    """Let the run that goes on commit its first step."""
    db.drive(run_id).reply(1, "thanks")


def test_a_tombstone_is_found_until_its_time_is_over(db: Door, clock: Clock) -> None:
    suspended(db, client(retentionMs=60_000))
    gone_on(db, submit(db).run_id)
    clock.forward(seconds=59.999)
    with db.nothing_written():
        late = submit(db, result="late")
    clock.forward(seconds=0.001)
    with db.nothing_written():
        later = submit(db, result="later")

    assert (late.outcome, later.outcome) == ("already_completed", "unknown_tool_call")


def test_no_retention_keeps_it_until_the_next_step_is_committed(db: Door, clock: Clock) -> None:
    suspended(db, client(retentionMs=0))
    run_id = submit(db).run_id
    clock.forward(seconds=60)
    assert submit(db).outcome == "already_completed"
    drive = db.drive(run_id)
    assert submit(db).outcome == "already_completed"
    drive.reply(1, "thanks")

    assert submit(db).outcome == "unknown_tool_call"


def test_no_retention_keeps_it_no_longer_than_the_run_that_goes_on(db: Door) -> None:
    suspended(db, client(retentionMs=0))
    db.drive(submit(db).run_id).finish("failed")

    assert submit(db).outcome == "unknown_tool_call"


def test_a_call_registered_without_a_retention_is_kept(db: Door, clock: Clock) -> None:
    suspended(db)
    gone_on(db, submit(db).run_id)
    clock.forward(seconds=10 * 365 * 86400)

    assert submit(db).outcome == "already_completed"


def test_an_unbounded_retention_is_no_error(db: Door, clock: Clock) -> None:
    suspended(db, client(retentionMs=2**63 - 1))
    gone_on(db, submit(db).run_id)
    clock.forward(seconds=60)

    assert submit(db).outcome == "already_completed"


def test_a_call_that_waits_has_no_limit_of_its_own(db: Door, clock: Clock) -> None:
    suspended(db, client(retentionMs=0), client("pick-2", retentionMs=0))
    clock.forward(seconds=86400 * 365)
    assert submit(db).outcome == "accepted"
    clock.forward(seconds=86400 * 365)
    assert submit(db).outcome == "already_completed", "answered, and not consumed yet"

    assert submit(db, "pick-2").outcome == "accepted"


@pytest.mark.parametrize("approved", [True, False])
def test_a_decision_is_kept_as_long(db: Door, clock: Clock, approved: bool) -> None:
    suspended(db, approval(retentionMs=1000))
    answer = decision(db, approved)
    drive = db.drive(submit(db, "pay-1", answer=answer).run_id)
    if approved:
        drive.result(1, 1)
        drive.step(1)
    else:
        drive.reply(1, "a pity")
    repeat = submit(db, "pay-1", answer=answer)
    assert (repeat.outcome, repeat.approved) == ("already_completed", approved)
    clock.forward(seconds=1)

    assert submit(db, "pay-1", answer=answer).outcome == "unknown_tool_call"


def test_an_abandoned_call_is_not_forgotten(db: Door, clock: Clock) -> None:
    suspended(db, client(retentionMs=0))
    db.start(say="never mind")
    clock.forward(seconds=86400)

    assert submit(db).outcome == "run_ended"
