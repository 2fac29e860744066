"""lockgate.list_stops: which of a worker's runs are to stop."""

from tests.support.door import Door


def test_only_stops_on_the_workers_own_running_runs_are_named(db: Door) -> None:
    for worker_id in ("worker-1", "worker-2"):
        db.beat(worker_id)
    mine, other = db.start("s1").run_id, db.start("s2").run_id
    db.drive(mine, worker_id="worker-1")
    db.drive(other, worker_id="worker-2")
    db.driven("s3")
    ended = db.driven("s4")
    for session_id in ("s1", "s2", "s4"):
        db.start(session_id, "instead", concurrent_entry="interrupt_previous")
    ended.finish("stopped")

    stops = db.call_many("list_stops", worker_id="worker-1")
    assert [(stop.run_id, stop.stop_kind) for stop in stops] == [(mine, "interrupt")]
