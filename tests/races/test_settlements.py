"""A consumer that registers while a run settles misses nothing, in either order."""

from functools import partial
from typing import Any

from tests.support.door import Door, Drive
from tests.support.racers import BOUND_S, Caller, Racers


def claim(caller: Door, consumer: str = "hook") -> list[Any]:
    return caller.call_many("claim_settlements", consumer=consumer)


def test_a_consumer_waits_for_the_settlement_that_cannot_see_it(racers: Racers, db: Door) -> None:
    drive = db.driven()
    worker, consumer = racers.callers(2)
    Drive(worker, drive.run_id, drive.attempt, 0).finish()
    future = racers.waiting(consumer, claim, consumer)
    worker.commit()
    offered = future.result(BOUND_S)
    consumer.commit()

    assert [due.run_id for due in offered] == [drive.run_id]


def test_a_settlement_waits_for_the_consumer_that_registers(racers: Racers, db: Door) -> None:
    drive = db.driven()
    worker, consumer = racers.callers(2)
    late = Drive(worker, drive.run_id, drive.attempt, 0)
    worker.commit()
    assert claim(consumer) == []
    future = racers.waiting(worker, late.finish)
    consumer.commit()
    assert future.result(BOUND_S).outcome == "finished"
    worker.commit()

    assert [due.run_id for due in claim(db)] == [drive.run_id]


def test_a_known_consumer_and_settlements_do_not_wait_for_each_other(
    racers: Racers, db: Door
) -> None:
    claim(db)
    first, second = db.driven("s1"), db.driven("s2")
    worker, other, consumer = racers.callers(3)
    Drive(worker, first.run_id, first.attempt, 0).finish()

    assert Drive(other, second.run_id, second.attempt, 0).finish().outcome == "finished"
    assert claim(consumer) == []


def test_two_first_claims_of_a_name_register_it_once(racers: Racers, db: Door) -> None:
    db.finished()

    def first_claim(caller: Caller) -> int:
        offered = len(claim(caller))
        caller.commit()
        return offered

    counts = racers.at_once([partial(first_claim, caller) for caller in racers.callers(8)])

    assert sum(counts) == 1
    assert len(db.rows("select * from lockgate_store.consumers")) == 1


def test_two_marks_at_once_are_one(racers: Racers, db: Door) -> None:
    run_id = db.finished()
    claim(db)
    one, other = racers.callers(2)
    mark = {"delivery_id": f"{run_id}:completed", "consumer": "hook"}
    assert one.call("mark_delivered", **mark).outcome == "marked"
    future = racers.waiting(other, other.call, "mark_delivered", **mark)
    one.commit()

    assert future.result(BOUND_S).outcome == "unchanged"
