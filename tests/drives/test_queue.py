"""Each worker takes from the queue what it has room for, until it leaves, whatever gets stuck."""

import threading
import time
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from dbos._sys_db import SystemDatabase

import lockgate.kick
from lockgate import RunHandle
from tests.support.scene import Scene
from tests.support.seen import seen
from tests.support.stage import Stage

HELD = {"say": "Hello @hold:g world"}
HELLO = {"say": "Hello."}
LOOKS = timedelta(seconds=2.5)  # of a worker that looks once a second
AT_ONCE = """
  select max(at_once) as most from (
    select count(*) as at_once
      from lockgate_store.runs a, lockgate_store.runs b
     where b.claimed_at <= a.claimed_at and a.claimed_at < b.completed_at
     group by a.run_id) as claims"""


def worked_on(scene: Scene, worker_id: str) -> None:
    """Wait until a worker has beaten for so long that it would have looked at the queue again."""

    def beat_at() -> Any:
        query = "select heartbeat_at from lockgate_store.workers where worker_id = %s"
        return scene.door.row(query, worker_id).heartbeat_at

    first = beat_at()
    seen(lambda: beat_at() > first + LOOKS, f"{worker_id} has worked on")


def driven_by(scene: Scene, worker_id: str) -> int:
    return len(scene.door.rows("select from lockgate_store.runs where owner_id = %s", worker_id))


def completed(scene: Scene, *runs: RunHandle) -> None:
    for run in runs:
        assert scene.settled(run).status == "completed"


def test_how_much_a_worker_takes_is_its_own_setting(scene: Scene) -> None:
    small = scene.crew.worker("small", concurrency=2).ready()
    big = scene.crew.worker("big", concurrency=50)
    big.ready()
    scene.listened_to(2)
    worked_on(scene, small)
    big.kill()
    runs = [scene.start(f"s{number}", HELD) for number in range(12)]
    scene.stage.seen("waits", 2)
    worked_on(scene, small)
    assert driven_by(scene, small) == 2
    scene.stage.open("g")
    completed(scene, *runs)
    assert scene.door.row(AT_ONCE).most == 2


def test_a_run_that_was_handed_on_goes_ahead_of_what_was_never_begun(scene: Scene) -> None:
    lost = scene.start("lost", {"say": "@hold:never"})
    first = scene.crew.worker("first", concurrency=1, lease_ms=60_000)
    owner = first.ready()
    scene.stage.seen("waits", pid=first.pid)
    waiting = [scene.start(f"waits-{number}", HELLO) for number in range(3)]
    first.kill()
    assert scene.door.requeue(lost.run_id, "drained", worker_id=owner).outcome == "requeued"
    scene.stage.open("never")
    scene.crew.worker("last", concurrency=1).ready()
    completed(scene, lost, *waiting)
    claims = "select session_id from lockgate_store.runs order by claimed_at"
    order = [row.session_id for row in scene.door.rows(claims)]
    assert order == ["lost", *(run.session_id for run in waiting)]


def test_a_leaving_worker_takes_nothing_that_it_would_only_hand_on(scene: Scene) -> None:
    leaving = scene.crew.worker("leaving", drain_s=60)
    leaving_id = leaving.ready()
    scene.listened_to(1)
    held = scene.start("held", HELD)
    scene.stage.seen("waits")
    leaving.terminate()
    seen(lambda: scene.door.rows("select from lockgate_store.workers where draining"), "it drains")
    worked_on(scene, leaving_id)  # what it was taking when it was told has been handed on
    waiting = scene.start("waiting", HELLO)
    worked_on(scene, leaving_id)
    run = scene.door.run(waiting.run_id)
    assert (run.attempt, scene.door.workflow(run.drive_id).status) == (1, "ENQUEUED")
    scene.crew.worker("stays").ready()
    completed(scene, waiting)
    scene.stage.open("g")
    completed(scene, held)


def stick(folder: Path) -> None:
    """Let the first look hang after its claim, and the second fail there, each once."""
    stage, read = Stage(folder), SystemDatabase.get_workflow_statuses
    first, second = threading.Lock(), threading.Lock()

    def stuck(self: SystemDatabase, claimed: list[str]) -> Any:
        if first.acquire(blocking=False):
            stage.note("sticks")
            while not stage.is_open("stuck"):
                time.sleep(0.01)
        elif second.acquire(blocking=False):
            stage.note("fails")
            raise OSError("the database said no")
        return read(self, claimed)

    SystemDatabase.get_workflow_statuses = stuck  # type: ignore[assignment, method-assign]
    lockgate.kick.STUCK_S = 0.2


def test_what_a_look_has_claimed_is_started_and_nothing_waits_for_it(scene: Scene) -> None:
    prepare = partial(stick, scene.stage.folder)
    scene.crew.worker("stuck", concurrency=2, lease_ms=60_000, prepare=prepare).ready()
    scene.listened_to(1)
    first = scene.start("first", HELLO)
    scene.stage.seen("sticks")
    second = scene.start("second", HELLO)
    scene.stage.seen("fails")
    completed(scene, second)
    assert scene.door.run(first.run_id).attempt == 1
    scene.stage.open("stuck")
    completed(scene, first)
