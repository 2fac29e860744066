"""S28: a healthy long step is declared dead. Heartbeats come from a thread of their own.

Each kind of long step has a worker of its own, and all are long at the same time.
"""

from typing import Any

from tests.support.crew import Member
from tests.support.proves import case
from tests.support.scene import Scene, call
from tests.support.seen import seen

LEASE_MS = 2_000
AFTER = {"say": "At last."}
TURNS: dict[str, tuple[dict[str, Any], ...]] = {
    "a-silent-model": ({**AFTER, "wait": 9},),
    "a-tool-that-blocks-its-thread": ({"calls": [call("sleep", seconds=7)]}, AFTER),
    "a-tool-that-blocks-the-loop": ({"calls": [call("stall", seconds=7)]}, AFTER),
    "a-tool-that-burns": ({"calls": [call("burn", seconds=5)]}, AFTER),
}
# Of each owner of a run: its last heartbeat, and how old that is by the database's clock.
BEATS = """
select r.session_id, w.heartbeat_at, extract(epoch from lockgate.now() - w.heartbeat_at) as age
  from lockgate_store.workers w
  join lockgate_store.runs r on r.owner_id = w.worker_id
"""


@case(28)
def test_steps_of_many_leases_are_not_taken_over(scene: Scene) -> None:
    own: dict[str, Member] = {}
    for name, turns in TURNS.items():
        own[name] = scene.crew.worker(name, lease_ms=LEASE_MS, concurrency=1)
        own[name].ready()
        run = scene.start(name, *turns)
        seen(lambda: scene.door.run(run.run_id).owner_id, "it is claimed")  # noqa: B023 - at once.
    idle = scene.crew.worker("B", lease_ms=LEASE_MS, sweep_every_s=0.05)
    idle.ready()
    beats: dict[str, set[Any]] = {name: set() for name in TURNS}
    ages: list[float] = []

    def have_settled() -> bool:
        for row in scene.door.rows(BEATS):
            beats[row.session_id].add(row.heartbeat_at)
            ages.append(float(row.age))
        return not scene.door.rows("select from lockgate_store.runs where status = 'running'")

    seen(have_settled, "all have settled")
    assert max(ages) < LEASE_MS / 1_000, "none ever looked dead"
    assert min(len(each) for each in beats.values()) > 4, "each heartbeat keeps moving"
    for name, turns in TURNS.items():
        row = scene.door.run(scene.door.session(name).current_run_id)
        assert (row.status, row.output, row.attempt) == ("completed", "At last.", 2), name
        models = scene.stage.notes("model", run=row.run_id)
        assert [note["pid"] for note in models] == [own[name].pid] * len(turns), name
    assert len(scene.stage.notes("long")) == len(TURNS) - 1
    assert scene.door.rows("select from lockgate_store.recoveries") == []
    assert "sweep.acted" not in idle.log.read_text()
