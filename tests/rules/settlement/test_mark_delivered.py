"""lockgate.mark_delivered: the mark that a consumer was told, once."""

from uuid import uuid4

import pytest

from tests.support.clock import Clock
from tests.support.door import Door
from tests.support.proves import proves


@proves("mark_delivered.marked")
def test_a_marked_settlement_is_never_offered_again(db: Door, clock: Clock) -> None:
    run_id = db.finished()
    db.call_many("claim_settlements", consumer="hook")
    now = clock.forward(seconds=5)
    answer = db.call("mark_delivered", delivery_id=f"{run_id}:completed", consumer="hook")
    clock.forward(seconds=3600)

    assert answer.outcome == "marked"
    assert db.row("select * from lockgate_store.deliveries").delivered_at == now
    assert db.call_many("claim_settlements", consumer="hook") == []


@proves("mark_delivered.marked")
def test_a_hook_that_threw_is_marked_with_its_error(db: Door) -> None:
    run_id = db.finished()
    db.call_many("claim_settlements", consumer="hook")
    db.call("mark_delivered", delivery_id=f"{run_id}:completed", consumer="hook", error="it threw")

    assert db.row("select * from lockgate_store.deliveries").last_error == "it threw"


def test_a_mark_needs_no_lease(db: Door) -> None:
    db.call_many("claim_settlements", consumer="hook")
    run_id = db.finished()

    assert (
        db.call("mark_delivered", delivery_id=f"{run_id}:completed", consumer="hook").outcome
        == "marked"
    )


@proves("mark_delivered.unchanged")
def test_a_second_mark_changes_nothing(db: Door, clock: Clock) -> None:
    run_id = db.finished()
    db.call_many("claim_settlements", consumer="hook")
    db.call("mark_delivered", delivery_id=f"{run_id}:completed", consumer="hook")
    clock.forward(seconds=1)
    with db.nothing_written():
        again = db.call(
            "mark_delivered", delivery_id=f"{run_id}:completed", consumer="hook", error="late"
        )

    assert again.outcome == "unchanged"


@proves("mark_delivered.not_found")
@pytest.mark.parametrize(
    "delivery_id",
    [
        "{run}:failed",
        "{other}:completed",
        "{run}",
        "{run}:",
        ":completed",
        "",
        "nonsense:completed",
        "{RUN}:completed",
        "{run}:completed:more",
    ],
)
def test_what_was_never_due_is_not_found(db: Door, delivery_id: str) -> None:
    run_id = db.finished()
    db.call_many("claim_settlements", consumer="hook")
    named = delivery_id.format(run=run_id, RUN=str(run_id).upper() + "0", other=uuid4())
    with db.nothing_written():
        answer = db.call("mark_delivered", delivery_id=named, consumer="hook")

    assert answer.outcome == "not_found"
