"""A lost run is not written to, one that is handed over goes on, and none is done twice."""

import threading
from uuid import UUID

import dbos

import lockgate.worker
from lockgate import RunHandle
from tests.support.crew import Member
from tests.support.scene import Scene, call
from tests.support.seen import seen

SAYS = {"say": "Hello @hold:word world, all is said now."}
HOLDS = {"calls": [call("hold", gate="body")]}


def drive_of(scene: Scene, run: RunHandle) -> UUID:
    drive_id: UUID = scene.door.run(run.run_id).drive_id
    return drive_id


def frozen_with(scene: Scene, *runs: RunHandle) -> Member:
    """Have a worker drive runs up to their gates, and freeze it there."""
    worker = scene.crew.worker("A")
    worker.ready()
    for run in runs:
        seen(lambda: scene.door.run(run.run_id).owner_id, "it is claimed")  # noqa: B023 - at once.
    scene.stage.seen("waits", 2)
    worker.freeze()
    return worker


def test_a_worker_that_wakes_and_was_not_replaced_goes_on(scene: Scene) -> None:
    runs = (scene.start("s1", SAYS), scene.start("s2", HOLDS, {"say": "After the body."}))
    worker = frozen_with(scene, *runs)
    name = scene.door.run(runs[0].run_id).owner_id
    fresh = (
        "select from lockgate_store.workers where worker_id = %s"
        " and heartbeat_at + 3 * lease_ms * interval '1 millisecond' > clock_timestamp()"
    )
    seen(lambda: not scene.door.rows(fresh, name), "three leases have passed")
    worker.thaw()
    scene.stage.open("word")
    scene.stage.open("body")
    assert [scene.settled(run).status for run in runs] == ["completed", "completed"]
    assert [scene.door.run(run.run_id).attempt for run in runs] == [2, 2], "one, and its end"
    assert len(scene.stage.notes("tool", name="hold")) == 1
    assert len(scene.stage.notes("model")) == 3


def test_what_ends_within_the_drain_time_is_not_handed_over(scene: Scene) -> None:
    leaving = scene.crew.worker("A", drain_s=20)
    leaving.ready()
    run = scene.start("s1", SAYS)
    scene.stage.seen("waits", pid=leaving.pid)
    leaving.terminate()
    seen(lambda: scene.door.rows("select from lockgate_store.workers where draining"), "it drains")
    late = scene.start("s2", {"say": "For somebody else."})
    scene.stage.open("word")
    assert leaving.ended() == 0
    assert scene.door.run(run.run_id).status == "completed"
    assert scene.door.run(run.run_id).attempt == 2, "one attempt, and its end"
    assert scene.door.run(late.run_id).status == "running"
    scene.crew.worker("B").ready()
    assert scene.settled(late).status == "completed"


def never_let_go() -> None:
    """Let DBOS wait for an answer that does not come."""

    def waits(**_: object) -> None:
        threading.Event().wait()

    dbos.DBOS.destroy = waits  # type: ignore[method-assign]
    lockgate.worker.LETS_GO_S = 0.2


def test_a_leaving_worker_does_not_wait_for_dbos_for_ever(scene: Scene) -> None:
    worker = scene.crew.worker("leaves", prepare=never_let_go)
    worker.ready()
    worker.terminate()
    assert worker.ended() == 0
    assert "worker.dbos_left_behind" in worker.log.read_text()


def test_a_workflow_that_is_executed_again_claims_nothing(scene: Scene) -> None:
    """DBOS may execute a workflow twice; our claim is once per drive_id."""
    first = scene.crew.worker("A", sweep_every_s=600)
    first.ready()
    run = scene.start("s1", SAYS)
    scene.stage.seen("waits", pid=first.pid)
    drive_id = drive_of(scene, run)
    scene.crew.worker("B", sweep_every_s=600).ready()
    scene.listened_to(2)
    first.freeze()
    scene.door.set_workflow(run.run_id, status="ENQUEUED")
    scene.wake()
    assert scene.returned(drive_id) == '{"outcome":"over"}'
    row = scene.door.run(run.run_id)
    assert (row.status, row.attempt, row.drive_id) == ("running", 1, drive_id)
    assert len(scene.stage.notes("model")) == 1


def test_a_workflow_that_is_executed_again_after_the_end_changes_nothing(driven: Scene) -> None:
    run = driven.start("s1", {"say": "Once."})
    driven.settled(run)
    drive_id = drive_of(driven, run)
    assert driven.returned(drive_id) == '{"outcome":"finished","runStatus":"completed"}'
    before = driven.stored()
    driven.door.execute(
        "delete from dbos.operation_outputs where workflow_uuid = %s", str(drive_id)
    )
    driven.door.execute("delete from dbos.workflow_output where workflow_uuid = %s", str(drive_id))
    driven.door.set_workflow(run.run_id, status="ENQUEUED")
    driven.wake()
    assert driven.returned(drive_id) == '{"outcome":"over"}'
    assert driven.stored() == before
    assert len(driven.stage.notes("model")) == 1


def test_a_drive_that_lost_its_workflow_still_ends_the_run_once(scene: Scene) -> None:
    """Another worker has executed the workflow as over; the one that drives goes on to the end."""
    first = scene.crew.worker("A")
    first.ready()
    run = scene.start("s1", SAYS)
    scene.stage.seen("waits", pid=first.pid)
    drive_id = drive_of(scene, run)
    scene.door.set_workflow(run.run_id, status="SUCCESS", output='{"outcome":"over"}')
    seen(lambda: drive_of(scene, run) != drive_id, "the sweep has handed it over")
    scene.stage.open("word")
    assert scene.settled(run).status == "completed"
    assert scene.text("s1") == "Hello world, all is said now."
    assert scene.settlements(run.run_id) == ["completed"]


def test_a_workflow_that_is_cancelled_from_outside_is_an_abort(driven: Scene) -> None:
    runs = (driven.start("s1", SAYS), driven.start("s2", HOLDS))
    driven.stage.seen("waits", 2)
    for run in runs:
        driven.door.set_workflow(run.run_id, status="CANCELLED")
    for run in runs:
        row = driven.settled(run)
        assert (row.status, row.error_detail["code"]) == ("failed", "framework_cancelled")
        assert row.error_detail["retryable"] is False
        assert driven.settlements(run.run_id) == ["failed"]
    driven.stage.open("word")
    driven.stage.open("body")
    again = driven.start("s1", {"say": "It goes on."})
    assert driven.settled(again).output == "It goes on."
    assert [m.role for m in driven.door.messages("s2")] == ["user", "assistant", "tool"]


def test_a_workflow_that_is_cancelled_at_its_very_end_is_an_abort(scene: Scene) -> None:
    """The drive meets the cancellation itself, where its end would be recorded."""
    scene.crew.worker("A", sweep_every_s=2.0).ready()
    run = scene.start("s1", SAYS)
    scene.stage.seen("waits")
    scene.door.set_workflow(run.run_id, status="CANCELLED")
    scene.stage.open("word")
    row = scene.settled(run)
    assert (row.status, row.error_detail["code"]) == ("failed", "framework_cancelled")
    assert scene.settlements(run.run_id) == ["failed"]
