"""A worker that was frozen for three leases, wherever it was, writes no more and lives on."""

from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

from lockgate import RunHandle
from lockgate.database import Database
from lockgate.ending import EndStep
from lockgate.rules import steps
from tests.support.crew import Member
from tests.support.scene import Scene, call
from tests.support.seen import seen
from tests.support.stage import Stage

LEASE_MS = 2_000
# Where the worker is in each run when it freezes, by session.
TURNS: dict[str, tuple[dict[str, Any], ...]] = {
    "in-a-model-call": ({"say": "Hello @hold:word world."},),
    "in-a-call-that-breaks": ({"say": "Hello @first @hold:link @break:once @later again."},),
    "in-a-body": ({"calls": [call("hold", gate="body")]}, {"say": "After the body."}),
    "between-commits": ({"calls": [call("add", a=1, b=2)]}, {"say": "It is three."}),
    "in-a-transaction": ({"calls": [call("add", a=2, b=2)]}, {"say": "It is four."}),
}
GATES = ("word", "link", "body", "between-commits", "in-a-transaction")
WORKER = "select * from lockgate_store.workers where worker_id = %s"
IN_A_TRANSACTION = (
    "select pid from pg_stat_activity where datname = current_database()"
    " and application_name = 'lockgate end' and state = 'idle in transaction'"
)


def hold_at_commits(folder: Path) -> None:
    """Wait after the commit of a result in one session, and before that of the end in another."""
    stage, call_once, end_inside = Stage(folder), Database.call_once, EndStep._end

    async def held_call(self: Database, rule: Any, /, *args: Any, **given: Any) -> Any:
        answer = await call_once(self, rule, *args, **given)
        if rule is steps.commit_result and given["session_id"] == "between-commits":
            await stage.passed("between-commits")
        return answer

    async def held_end(self: EndStep, rule: str, given: dict[str, Any]) -> dict[str, Any]:
        answer = await end_inside(self, rule, given)
        if given["session_id"] == "in-a-transaction":
            await stage.passed("in-a-transaction")
        return answer

    Database.call_once = held_call  # type: ignore[method-assign]
    EndStep._end = held_end  # type: ignore[method-assign]


def frozen_everywhere(scene: Scene, runs: list[RunHandle]) -> tuple[Member, list[UUID], str]:
    """Have A drive each run to its place, and freeze it there; also returns its drives and id."""
    prepare = partial(hold_at_commits, scene.stage.folder)
    worker = scene.crew.worker("A", lease_ms=LEASE_MS, prepare=prepare)
    worker_id = worker.ready()
    for gate in GATES:
        scene.stage.seen("waits", pid=worker.pid, gate=gate)
    worker.freeze()
    return worker, [scene.door.run(run.run_id).drive_id for run in runs], worker_id


def test_a_worker_that_wakes_after_three_leases_writes_no_more_and_lives_on(scene: Scene) -> None:
    runs = [scene.start(name, *turns) for name, turns in TURNS.items()]
    lost, drives, worker_id = frozen_everywhere(scene, runs)
    (held,) = scene.door.rows(IN_A_TRANSACTION)
    taker = scene.crew.worker("B", lease_ms=LEASE_MS)
    for gate in GATES:
        scene.stage.open(gate)
    rows = [scene.settled(run) for run in runs]
    assert {row.status for row in rows} == {"completed"}
    assert held not in scene.door.rows(IN_A_TRANSACTION), "the server has ended what A had open"
    beat = scene.door.row(WORKER, worker_id)
    now = "select clock_timestamp() - %s > 3 * %s * interval '1 millisecond' as is_late"
    seen(lambda: scene.door.row(now, beat.heartbeat_at, LEASE_MS).is_late, "three leases")
    before = scene.stored()
    lost.thaw()

    for drive_id in drives[:-1]:
        assert scene.returned(drive_id) == '{"outcome":"fenced"}'
    # Its transaction was ended by the server, so it asks once more, and hears of B's end.
    assert scene.returned(drives[-1]) == '{"outcome":"fenced","runStatus":"completed"}'
    assert scene.stored() == before
    for run, row in zip(runs, rows, strict=True):
        assert scene.settlements(run.run_id) == ["completed"]
        assert scene.text(row.session_id) == row.output
    nothing_was_done_again(scene, lost, taker)

    seen(lambda: scene.door.row(WORKER, worker_id).heartbeat_at > beat.heartbeat_at, "it beats")
    taker.terminate()
    assert taker.ended() == 0
    again = scene.start("afterwards", {"calls": [call("add", a=3, b=3)]}, {"say": "Still here."})
    assert scene.settled(again).output == "Still here."
    asked = scene.stage.notes("model", run=again.run_id)
    assert [note["pid"] for note in asked] == [lost.pid] * 2


def nothing_was_done_again(scene: Scene, lost: Member, taker: Member) -> None:
    """Hold that what A had committed was not asked for by B, and nothing of B's by A."""
    asked: dict[str, list[int]] = {}
    for note in scene.stage.notes("model"):
        name = next(r.session_id for r in _runs(scene) if str(r.run_id) == note["run"])
        asked.setdefault(f"{name} {note['step']}", []).append(note["pid"])
    assert asked == {
        "in-a-model-call 1": [lost.pid, taker.pid],
        "in-a-call-that-breaks 1": [lost.pid, taker.pid],
        "in-a-body 1": [lost.pid],
        "in-a-body 2": [taker.pid],
        "between-commits 1": [lost.pid],
        "between-commits 2": [taker.pid],
        "in-a-transaction 1": [lost.pid],
        "in-a-transaction 2": [lost.pid],
    }
    bodies = [note["pid"] for note in scene.stage.notes("tool", name="hold")]
    assert bodies == [lost.pid, taker.pid], "only its result had not been committed"
    assert [note["pid"] for note in scene.stage.notes("tool", name="add")] == [lost.pid] * 2


def _runs(scene: Scene) -> list[Any]:
    return scene.door.rows("select session_id, run_id from lockgate_store.runs")
