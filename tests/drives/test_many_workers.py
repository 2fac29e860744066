"""Nine of ten workers are killed at one moment, with 200 runs between them: the tenth goes on."""

import asyncio
import statistics
from collections import Counter
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import lockgate.ending
from lockgate.database import Database
from lockgate.rules import steps
from tests.support import stage as stages
from tests.support.proves import case
from tests.support.scene import Scene, call
from tests.support.seen import seen
from tests.support.stage import Stage

RUNS, WORKERS = 200, 9
LEASE_MS = 5_000  # the default, as is how often they sweep
ADD, HOLD = call("add", a=1, b=2), call("hold", gate="killed")
DONE = {"say": "All @hold:killed is done."}
# Where a run is when its worker is killed, by the beginning of its session's name.
TURNS: dict[str, tuple[dict[str, Any], ...]] = {
    "claimed": ({"calls": [ADD]}, {"calls": [ADD, ADD]}, {"say": "All is done."}),
    "first-body": ({"calls": [ADD, HOLD]}, {"calls": [ADD]}, {"say": "All is done."}),
    "saved": ({"calls": [ADD]}, {"calls": [ADD, ADD]}, {"say": "All is done."}),
    "later-body": ({"calls": [ADD]}, {"calls": [HOLD, ADD]}, {"say": "All is done."}),
    "asking": ({"calls": [ADD]}, {"calls": [ADD, ADD]}, DONE),
}
REPLIES = "select run_id, step from lockgate_store.messages where role = 'assistant'"
RESULTS = "select run_id, step, ordinal from lockgate_store.tool_calls where response is not null"
RUNNING = "select from lockgate_store.runs where status = 'running'"
ROWS = "select * from lockgate_store.runs"


def dying(folder: Path) -> None:
    """Make a process of few connections, which rests where the name of a session says."""
    # No gate is opened before it dies.
    stages.LOOK_EVERY_S = 1.0  # type: ignore[attr-defined]  # another module's, read there
    lockgate.ending.POOL_SIZE = 2
    stage, call_once = Stage(folder), Database.call_once

    async def held_call(self: Database, rule: Any, /, *args: Any, **given: Any) -> Any:
        answer = await call_once(self, rule, *args, **given)
        name = given.get("session_id", "")
        is_claimed = rule is steps.claim_run and name.startswith("claimed")
        is_saved = rule is steps.commit_reply and given["step"] == 2 and name.startswith("saved")
        if is_claimed or is_saved:
            stage.note("waits", gate=name)
            await asyncio.Event().wait()
        return answer

    Database.call_once = held_call  # type: ignore[method-assign]


def killed_at(scene: Scene) -> datetime:
    """Bring all runs to their places with nine workers, and kill those beside a tenth."""
    prepare = partial(dying, scene.stage.folder)
    workers = [
        scene.crew.worker(
            f"worker-{number}",
            lease_ms=LEASE_MS,
            sweep_every_s=1.0,
            concurrency=RUNS // WORKERS + 1,
            pool_size=2,
            prepare=prepare,
        )
        for number in range(WORKERS)
    ]
    for worker in workers:
        worker.ready()
    places = [*TURNS]
    for number in range(RUNS):
        name = places[number % len(places)]
        scene.start(f"{name}-{number}", *TURNS[name])
    scene.stage.seen("waits", RUNS)
    owners = Counter(row.owner_id for row in scene.door.rows(ROWS))
    assert len(owners) == WORKERS, "each has some"
    takes_over = scene.crew.worker("tenth", lease_ms=LEASE_MS, sweep_every_s=1.0, concurrency=RUNS)
    judges = (
        "select from lockgate_store.workers where worker_id = %s"
        " and regular_since + lease_ms * interval '1 millisecond' < clock_timestamp()"
    )
    seen(partial(scene.door.rows, judges, takes_over.ready()), "the tenth may judge others")
    for worker in workers:
        worker.freeze()  # so that they die of one moment, not one after the other
    moment: datetime = scene.door.row("select clock_timestamp() as now").now
    for worker in workers:
        worker.kill()
    return moment


@case(9)
@pytest.mark.timeout(180)
def test_two_hundred_runs_of_nine_workers_are_completed_by_the_tenth(scene: Scene) -> None:
    moment = killed_at(scene)
    replies = {(str(row.run_id), row.step) for row in scene.door.rows(REPLIES)}
    results = {f"{r.run_id}:{r.step}:{r.ordinal}" for r in scene.door.rows(RESULTS)}
    before = len(scene.stage.lines())
    scene.stage.open("killed")
    seen(lambda: not scene.door.rows(RUNNING), "all have settled", within_s=90)

    rows = scene.door.rows(ROWS)
    assert len(rows) == RUNS
    assert {(row.status, row.output, row.attempt) for row in rows} == {
        ("completed", "All is done.", 3)
    }
    after = scene.stage.lines()[before:]
    asked = Counter((n["run"], n["step"]) for n in after if n["what"] == "model")
    bodies = Counter(n["dedupe"] for n in after if n["what"] == "tool")
    assert not replies & asked.keys(), "no reply was asked for again"
    assert not results & bodies.keys(), "no body ran again"
    assert {*asked.values(), *bodies.values()} == {1}
    assert len(asked) + len(replies) == 3 * RUNS
    assert len(bodies) + len(results) == 3 * RUNS
    settled = scene.door.rows("select run_id, status from lockgate_store.settlements")
    assert Counter(row.run_id for row in settled) == Counter(row.run_id for row in rows)
    told(moment, rows)


def told(moment: datetime, rows: list[Any]) -> None:
    """Print how long it took, and hold it to what a busy machine can do."""
    claims = sorted((row.claimed_at - moment).total_seconds() for row in rows)
    ends = max((row.completed_at - moment).total_seconds() for row in rows)
    print(  # noqa: T201 - the figures are read by whoever measures.
        f"kill to claim: first {claims[0]:.2f} s, p50 {statistics.median(claims):.2f} s, "
        f"max {claims[-1]:.2f} s; kill to all completed: {ends:.2f} s"
    )
    assert claims[0] > 0
    assert claims[-1] < LEASE_MS / 1_000 + 20
