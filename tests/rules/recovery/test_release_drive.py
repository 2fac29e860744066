"""lockgate.release_drive: the wait of an attempt is over, by the database's clock."""

from tests.rules.recovery.test_requeue_run import FOUND
from tests.rules.recovery.test_sweep import A_MOMENT_S, SWEEPER, found
from tests.support.clock import Clock
from tests.support.door import Door
from tests.support.proves import proves


@proves("requeue_run.released", "finding.wait_over")
def test_a_wait_ends_at_its_time_and_the_attempt_that_waited_may_begin(
    db: Door, clock: Clock
) -> None:
    run_id = db.driven().run_id
    next_at = db.requeue(run_id, "raised").next_at
    waiting, (budget,) = db.run(run_id), db.rows("select * from lockgate_store.recoveries")
    db.beat()
    clock.forward(seconds=0.999)
    with db.nothing_written():
        for finding in FOUND:
            assert db.requeue(run_id, finding).outcome == "stale"
    clock.forward(seconds=0.001)
    answer = db.requeue(run_id, "wait_over", max_attempts=1)

    assert vars(answer) == {
        "outcome": "released",
        "run_status": "running",
        "attempt": 2,
        "next_at": next_at,
    }
    assert db.run(run_id) == waiting
    assert db.rows("select * from lockgate_store.recoveries") == [budget], "it costs nothing"
    assert db.workflow(waiting.drive_id).status == "ENQUEUED"
    assert db.workflow(waiting.drive_id).delay_until_epoch_ms is None
    with db.nothing_written():
        assert db.requeue(run_id, "wait_over").outcome == "stale"
    assert db.claim(run_id).outcome == "claimed"


def test_a_wait_that_a_stop_stands_on_ends_with_the_run(db: Door, clock: Clock) -> None:
    run_id = db.driven().run_id
    db.requeue(run_id, "raised")
    db.beat()
    assert db.call("interrupt", session_id="s1", reason="enough").outcome == "stopping"
    clock.forward(seconds=1)
    answer = db.requeue(run_id, "wait_over")

    assert (answer.outcome, answer.run_status) == ("ended", "interrupted")


@proves("finding.wait_over")
def test_a_wait_that_is_over_is_found_by_whoever_serves_it_however_new(
    db: Door, clock: Clock
) -> None:
    """No run is taken from anybody by its release, so after an outage nothing waits for it."""
    drive = db.driven()
    db.requeue(drive.run_id, "raised")
    clock.forward(seconds=1)
    db.beat(SWEEPER)
    assert found(db) == []
    clock.forward(seconds=A_MOMENT_S)

    assert found(db) == [("wait_over", drive.run_id)]
    db.set_workflow(drive.run_id, status="ERROR")
    assert found(db) == [], "any other finding is for a worker that was there"
    db.set_workflow(drive.run_id, status="DELAYED")
    db.beat(SWEEPER, draining=True)
    assert found(db) == []
