"""A worker whose own promise is late claims nothing.

What it has claimed already it asks about first, and then begins.
"""

from functools import partial
from typing import Any

import psycopg
import pytest

from lockgate.attempt import Attempt
from lockgate.errors import RunSuperseded
from lockgate.heartbeat import Heartbeat
from lockgate.rules import steps
from lockgate.scope import Surroundings
from lockgate.tally import Tally
from tests.support.crew import Member
from tests.support.scene import Scene, call
from tests.support.seen import seen

TURNS = ({"calls": [call("add", a=1, b=2)]}, {"say": "Three."})
BEGINNINGS = ["model 1", "tool", "model 2"]


class Promise:
    """A promise that is late at one beginning; by then the run may have been taken over."""

    def __init__(self, scene: Scene, run_id: Any, beginning: int, *, is_lost: bool) -> None:
        self._hand_over = partial(scene.door.requeue, run_id, "raised") if is_lost else None
        self._beginning = beginning
        self._asked = 0

    async def may_begin(self) -> None:
        self._asked += 1
        if self._asked == self._beginning and self._hand_over is not None:
            self._hand_over()

    def lapses(self) -> int:
        return 1 if self._asked >= self._beginning else 0


def attempt_of(scene: Scene, beginning: int, *, is_lost: bool) -> Attempt:
    """Claim a run in this process, for an attempt whose promise is late at one beginning."""
    scene.door.beat()
    run_id = scene.start("s1", *TURNS).run_id
    address: dict[str, Any] = {"session_id": "s1", "run_id": run_id}
    drive_id = scene.door.run(run_id).drive_id
    claimed = scene.own.database.call_once(
        steps.claim_run, drive_id=drive_id, worker_id="worker-1", **address
    )
    promise = Promise(scene, run_id, beginning, is_lost=is_lost)
    around = Surroundings(
        host=scene.own.host,
        database=scene.own.database,
        may_begin=promise.may_begin,
        lapses=promise.lapses,
        tell=lambda *_: None,
        hurry=lambda: None,
        background=set(),
    )

    async def made() -> Attempt:
        return Attempt(around, "", claim=await claimed, lapses=promise.lapses(), **address)

    return scene.run(made())


def begun(scene: Scene) -> list[str]:
    names = (
        f"model {note['step']}" if note["what"] == "model" else note["what"]
        for note in scene.stage.lines()
    )
    return [name for name in names if name in BEGINNINGS]


@pytest.mark.parametrize("beginning", [1, 2, 3])
def test_a_lost_attempt_begins_no_model_call_and_no_body(scene: Scene, beginning: int) -> None:
    attempt = attempt_of(scene, beginning, is_lost=True)
    with pytest.raises(RunSuperseded):
        scene.run(attempt.run())
    scene.run(attempt.writer.close())

    assert begun(scene) == BEGINNINGS[: beginning - 1]


def test_an_attempt_that_still_stands_goes_on(scene: Scene) -> None:
    attempt = attempt_of(scene, 1, is_lost=False)

    assert scene.run(attempt.run()).output == "Three."
    assert begun(scene) == BEGINNINGS
    scene.run(attempt.writer.close())


def beat_once() -> None:
    """Lose each beat but the first."""
    own = Heartbeat._beat
    beaten: list[bool] = []

    async def first(self: Heartbeat, conn: psycopg.AsyncConnection) -> None:
        if beaten:
            raise psycopg.OperationalError("the beat is lost")
        beaten.append(True)
        await own(self, conn)

    Heartbeat._beat = first  # type: ignore[method-assign]


def dispatched_to_the_silent(scene: Scene) -> tuple[Member, Any]:
    """Start a run that is dispatched to a worker that beats no more."""
    silent = scene.crew.worker("silent", concurrency=1, drain_s=5.0, prepare=beat_once)
    worker_id = silent.ready()
    alive = "select lockgate.worker_is_alive(%s, lockgate.now()) as is_alive"
    seen(lambda: not scene.door.row(alive, worker_id).is_alive, "it beats no more")
    run_id = scene.start("s1", {"say": "Hello @hold:word world."}).run_id
    row = scene.door.run(run_id)
    seen(lambda: scene.door.workflow(row.drive_id).status == "PENDING", "it is dispatched")
    return silent, row


def test_a_worker_that_does_not_beat_claims_no_run_and_spends_no_budget(scene: Scene) -> None:
    _, row = dispatched_to_the_silent(scene)
    scene.crew.worker("beats", concurrency=1).ready()
    scene.stage.seen("waits", gate="word")

    assert scene.door.rows("select from lockgate_store.recoveries") == []
    scene.stage.open("word")
    assert scene.settled(row.run_id).output == "Hello world."


def test_a_worker_that_waits_to_claim_hands_on_what_it_has_when_it_leaves(scene: Scene) -> None:
    silent, row = dispatched_to_the_silent(scene)
    silent.terminate()

    assert scene.returned(row.drive_id) == '{"outcome":"requeued"}'
    assert scene.door.rows("select from lockgate_store.recoveries") == []
    assert silent.ended() == 0


def test_a_worker_whose_clock_stood_still_with_it_hears_of_a_late_beat(scene: Scene) -> None:
    beat = Heartbeat(scene.url, "worker-1", 10_000, Tally())
    scene.run(beat.start())
    scene.door.execute(
        "update lockgate_store.workers set heartbeat_at = heartbeat_at - interval '1 minute'"
    )
    seen(lambda: beat.lapses() > 0, "the pause is known")
    scene.run(beat.stop())
