"""S28: a healthy long step is declared dead. All times are half of the case's."""

from typing import Any

import pytest

from tests.support.proves import case
from tests.support.scene import Scene, call
from tests.support.seen import seen

LEASE_MS = 1_000
TURNS: dict[str, tuple[dict[str, Any], ...]] = {
    "a model that is silent": ({"say": "At last.", "wait": 4.5},),
    "a tool that blocks its thread": ({"calls": [call("sleep", seconds=3.5)]}, {"say": "At last."}),
    "a tool that blocks the loop": ({"calls": [call("stall", seconds=3.5)]}, {"say": "At last."}),
    "a tool that burns": ({"calls": [call("burn", seconds=2.5)]}, {"say": "At last."}),
}
# How old the worker's last heartbeat is by the database's clock, if it is the run's owner.
AGE = """
select extract(epoch from lockgate.now() - w.heartbeat_at) as age
  from lockgate_store.workers w
  join lockgate_store.runs r on r.owner_id = w.worker_id
 where r.run_id = %s
"""


@case(28)
@pytest.mark.parametrize("what", TURNS)
def test_a_step_of_many_leases_is_not_taken_over(scene: Scene, what: str) -> None:
    """Heartbeats come from a thread of their own."""
    busy = scene.crew.worker("A", lease_ms=LEASE_MS)
    busy.ready()
    scene.listened_to(1)
    run = scene.start("s1", *TURNS[what])
    seen(lambda: scene.door.run(run.run_id).owner_id, "it is claimed")
    scene.crew.worker("B", lease_ms=LEASE_MS, sweep_every_s=0.05).ready()
    ages: list[float] = []

    def has_settled() -> bool:
        ages.extend(float(row.age) for row in scene.door.rows(AGE, run.run_id))
        return bool(scene.door.run(run.run_id).status != "running")

    seen(has_settled, "it has settled")
    row = scene.door.run(run.run_id)
    assert (row.status, row.output, row.attempt) == ("completed", "At last.", 2), "one, and its end"
    assert len(ages) > 20
    assert max(ages) < LEASE_MS / 1_000, "it never looked dead"
    assert [note["pid"] for note in scene.stage.notes("model")] == [busy.pid] * len(TURNS[what])
    assert len(scene.stage.notes("long")) == len(TURNS[what]) - 1
    assert scene.door.rows("select from lockgate_store.recoveries") == []
