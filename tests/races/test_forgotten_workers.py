"""Boots that begin at the same moment, and forget those of long ago."""

from functools import partial

from tests.rules.recovery.test_forget_workers import boots, told, workers
from tests.support.door import Door
from tests.support.racers import Caller, Racers

RACERS = 8
OLD = 3000  # more than one of them forgets


def test_eight_new_boots_at_once_forget_and_count_each_old_one_once(
    racers: Racers, db: Door
) -> None:
    boots(db, OLD)

    def beat(caller: Caller, number: int) -> None:
        caller.beat(f"new-{number}")
        caller.commit()

    callers = racers.callers(RACERS)
    racers.at_once([partial(beat, caller, n) for n, caller in enumerate(callers)])

    assert workers(db) == {f"new-{n}" for n in range(RACERS)}
    assert told(db) == [OLD, 0, 0, 0]


def test_an_old_boot_that_beats_at_this_moment_is_not_forgotten(racers: Racers, db: Door) -> None:
    boots(db, 2)
    asleep = racers.caller()
    assert asleep.beat("boot-1").was_late
    db.beat("new")
    asleep.commit()

    assert workers(db) == {"boot-1", "new"}
    assert told(db) == [2, 0, 0, 0]
