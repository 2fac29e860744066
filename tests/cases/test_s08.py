"""S08: the sweep acts on a stale snapshot. The test is the sweeper, and is held in between."""

from typing import Any

from lockgate import RunHandle
from tests.support.crew import Member
from tests.support.proves import case
from tests.support.scene import Scene
from tests.support.seen import seen

SWEEPER = "sweeper"
SAYS = {"say": "Hello @hold:word world."}
# Who drives it first has something left to write, whenever it is frozen.
SAYS_LATE = {"say": "@first Hello @hold:late and late @later Hello @hold:word world."}
DRIVES = "select from dbos.workflow_status where name = 'drive_run'"


def found(scene: Scene) -> Any:
    """Sweep until something is found, as a worker whose own heartbeat is regular."""

    def sweep() -> list[Any]:
        scene.door.beat(SWEEPER, lease_ms=800)
        return scene.door.call_many("sweep", worker_id=SWEEPER)

    (finding,) = seen(sweep, "something is found")
    return finding


def released(scene: Scene, finding: Any) -> str:
    """Call the rule that a finding leads to, and hold that it wrote and enqueued nothing."""
    before, drives = scene.stored(), len(scene.door.rows(DRIVES))
    answer = scene.door.call(
        "requeue_run",
        session_id=finding.session_id,
        run_id=finding.run_id,
        drive_id=finding.drive_id,
        finding=finding.finding,
        worker_id=SWEEPER,
    )
    assert scene.stored() == before
    assert len(scene.door.rows(DRIVES)) == drives
    outcome: str = answer.outcome
    return outcome


def frozen(scene: Scene, says: dict[str, str] = SAYS) -> tuple[Member, RunHandle]:
    """Have A drive a run to its gate, and freeze it there."""
    worker = scene.crew.worker("A", sweep_every_s=600)
    worker.ready()
    run = scene.start("s1", says)
    scene.stage.seen("waits", pid=worker.pid)
    worker.freeze()
    return worker, run


def ended_once(scene: Scene, run: RunHandle) -> None:
    """Hold that a run has one end: one settlement, and nothing on the stream after it."""
    row = scene.settled(run)
    assert (row.status, row.output) == ("completed", "Hello world.")
    assert scene.text("s1") == "Hello world."
    assert scene.settlements(run.run_id) == ["completed"]
    chunks, stream = scene.door.chunks("s1"), scene.door.stream("s1")
    assert (stream.status, stream.final["status"]) == ("ended", "completed")
    assert stream.head_sequence == row.end_sequence == len(chunks)


@case(8)
def test_a_run_that_ended_after_it_was_found_is_left_alone(scene: Scene) -> None:
    worker, run = frozen(scene)
    finding = found(scene)
    assert (finding.finding, finding.run_id) == ("owner_dead", run.run_id)
    worker.thaw()
    scene.stage.open("word")
    scene.settled(run)

    assert released(scene, finding) == "stale"
    ended_once(scene, run)
    assert [note["pid"] for note in scene.stage.notes("model")] == [worker.pid]


@case(8)
def test_a_run_that_another_claimed_after_it_was_found_is_left_to_it(scene: Scene) -> None:
    worker, run = frozen(scene, SAYS_LATE)
    finding = found(scene)
    taker = scene.crew.worker("B")
    scene.stage.seen("waits", pid=taker.pid)
    seen(lambda: "Hello" in scene.text("s1"), "B writes nothing more until its gate is open")
    mine = scene.door.run(run.run_id)
    assert mine.attempt == 2

    assert released(scene, finding) == "stale"
    assert scene.door.run(run.run_id) == mine, "it is still B's"
    worker.thaw()
    scene.stage.open("late")
    assert scene.returned(finding.drive_id) == '{"outcome":"fenced"}'
    scene.stage.open("word")
    ended_once(scene, run)
    assert [note["pid"] for note in scene.stage.notes("model")] == [worker.pid, taker.pid]
