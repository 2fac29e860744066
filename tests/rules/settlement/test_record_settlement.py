"""Every settled status that a run reaches has one settlement, of the commit that settles."""

from typing import Any

from tests.support.clock import Clock
from tests.support.cluster import Database
from tests.support.door import Door


def settled(db: Door) -> list[tuple[Any, str]]:
    rows = db.rows("select * from lockgate_store.settlements order by settled_at, status")
    return [(row.run_id, row.status) for row in rows]


def test_each_way_to_end_settles_once(db: Door, clock: Clock) -> None:
    ended = db.finished("s1")
    clock.forward(seconds=1)
    failed = db.driven("s2")
    failed.finish("failed")
    clock.forward(seconds=1)
    lost = db.driven("s3").run_id
    db.start("s3", "again")
    clock.forward(seconds=1)
    exhausted = db.driven("s4").run_id
    db.requeue(exhausted, "raised", max_attempts=1)

    assert settled(db) == [
        (ended, "completed"),
        (failed.run_id, "failed"),
        (lost, "superseded"),
        (exhausted, "failed"),
    ]
    assert db.rows("select * from lockgate_store.deliveries") == []


def test_neither_a_start_nor_a_new_attempt_nor_a_never_run_failure_settles(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "hello")
    db.requeue(drive.run_id, "raised")
    db.create_session("never-run")
    db.call("fail_session_without_run", session_id="never-run", error_detail={"message": "no"})

    assert settled(db) == []


def test_a_commit_that_failed_has_no_settlement(rules_db: Database, db: Door) -> None:
    drive = db.driven()
    with db.nothing_written(), rules_db.connect(autocommit=False) as connection:
        Door(connection).call(
            "finish_run", session_id="s1", run_id=drive.run_id, attempt=1, status="completed"
        )
        connection.rollback()

    assert drive.finish().outcome == "finished"
    assert settled(db) == [(drive.run_id, "completed")]
