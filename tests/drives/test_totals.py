"""What recovery costs is counted by the worker where it happens, and outlives that worker."""

from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from lockgate import alone
from lockgate.drives import Driver
from lockgate.errors import RunSuperseded
from lockgate.scope import Surroundings
from lockgate.stream_writer import StreamWriter
from lockgate.tally import Tally
from tests.drives.test_takeovers import HOLDS, SAYS, frozen_with
from tests.support.house import always
from tests.support.proves import case
from tests.support.scene import Scene
from tests.support.seen import seen

HEALTH = "select * from lockgate.worker_health where worker_id = %s"
END_LISTENERS = """
select pg_terminate_backend(pid) from pg_stat_activity
 where datname = current_database() and application_name = 'lockgate listen'
"""


def totals(scene: Scene, worker_id: str) -> dict[str, int]:
    """Return a worker's totals, those that are not nothing."""
    row = scene.door.row(HEALTH, worker_id)
    told = {
        name: getattr(row, name)
        for name in ("takeovers", "recoveries", "exhausted", "fenced_writes")
    }
    return {name: total for name, total in told.items() if total}


def come_to(scene: Scene, worker_id: str, **expected: int) -> None:
    """Wait until a worker's beats have told these totals and no others."""
    seen(lambda: totals(scene, worker_id) == expected, f"{worker_id} tells {expected}")


def scraped(address: str) -> dict[str, float]:
    answer = httpx.get(f"{address}/metrics", timeout=20)
    assert answer.status_code == 200, answer.text
    families = text_string_to_metric_families(answer.text)
    return {
        sample.name.removeprefix("lockgate_"): sample.value
        for family in families
        for sample in family.samples
    }


def begin_side_by_side() -> None:
    """Let a worker begin at once what two others have died of."""
    alone.ALONE_AFTER = 99


def test_takeovers_recoveries_and_refused_writes_are_told_and_outlive_their_workers(
    scene: Scene,
) -> None:
    runs = (scene.start("s1", SAYS), scene.start("s2", HOLDS, {"say": "After the body."}))
    frozen = frozen_with(scene, *runs)
    first = scene.door.run(runs[0].run_id).owner_id
    killed = scene.crew.worker("B")
    second = killed.ready()
    scene.stage.seen("waits", 2, pid=killed.pid)
    come_to(scene, second, takeovers=2, recoveries=2)
    killed.kill()
    stranded = "select finding, owner_id from lockgate.stranded_runs"
    seen(lambda: len(scene.door.rows(stranded)) == 2, "nothing executes them")
    assert {(r.finding, r.owner_id) for r in scene.door.rows(stranded)} == {("owner_dead", second)}
    last = scene.crew.worker("C", prepare=begin_side_by_side)
    third = last.ready()
    scene.stage.seen("waits", 2, pid=last.pid)
    for gate in ("word", "body"):
        scene.stage.open(gate)
    assert [scene.settled(run).status for run in runs] == ["completed", "completed"]
    assert totals(scene, first) == {}
    frozen.thaw()
    come_to(scene, first, fenced_writes=2)
    come_to(scene, third, takeovers=2, recoveries=2)
    assert totals(scene, second) == {"takeovers": 2, "recoveries": 2}, "as its last beat told"
    address = scene.crew.server("api", "--no-worker", "--metrics").ready()
    seen(lambda: scraped(address)["workers_alive"] == 2, "both that are left are alive")
    told = scraped(address)
    assert (told["takeovers_total"], told["recoveries_total"]) == (4, 4)
    assert (told["fenced_writes_total"], told["exhausted_total"]) == (2, 0)
    assert (told["running_runs"], told["stranded_runs"]) == (0, 0)
    assert told["sweep_age_seconds"] < 30


def test_a_budget_that_is_spent_is_told_by_whoever_met_it(scene: Scene) -> None:
    """By the drive that failed, or by the sweep that found no drive left."""
    drives = scene.crew.worker("A", max_attempts=1, sweep_every_s=600)
    driver = drives.ready()
    raised = scene.start("s1", {"say": "Half @raise:odd it"})
    assert scene.settled(raised).error_detail["code"] == "framework_auto_resume_exhausted"
    come_to(scene, driver, exhausted=1)
    run = scene.start("s2", SAYS)
    scene.stage.seen("waits")
    drives.kill()
    sweeper = scene.crew.worker("B", max_attempts=1).ready()
    assert scene.settled(run).error_detail["code"] == "framework_auto_resume_exhausted"
    come_to(scene, sweeper, exhausted=1)


def a_driver(scene: Scene, tally: Tally) -> Driver:
    """Make what drives runs in this very process; whatever it ends, it is told to be too late."""

    async def too_late(*_: Any, **__: Any) -> dict[str, Any]:
        return {"outcome": "fenced", "runStatus": None}

    around = Surroundings(
        host=scene.own.host,
        database=scene.own.database,
        may_begin=always,
        lapses=lambda: 0,
        tell=lambda *_: None,
        hurry=lambda: None,
        background=set(),
        tally=tally,
    )
    return Driver(around=around, worker_id="worker-1", end=too_late, slots=9, kick=lambda: None)


def test_a_drive_counts_its_recovery_and_an_end_that_comes_too_late(scene: Scene) -> None:
    tally = Tally()
    driver = a_driver(scene, tally)
    for session_id, is_handed_over in (("s1", False), ("s2", True)):
        run_id = scene.start(session_id, {"say": "Hello."}).run_id
        if is_handed_over:
            scene.door.drive(run_id)
            scene.door.requeue(run_id, "raised")
        answer = scene.run(driver.drive("", session_id, run_id, scene.door.run(run_id).drive_id))
        assert answer == {"outcome": "fenced", "runStatus": None}
        again = scene.run(driver.drive("", session_id, run_id, scene.door.run(run_id).drive_id))
        assert again == {"outcome": "over"}, "what claims nothing recovers nothing"
    assert tally == Tally(recoveries=1, fenced_writes=2)


def test_a_question_whether_an_attempt_stands_is_no_write_and_only_the_first_refusal_is_one(
    scene: Scene,
) -> None:
    lost = scene.door.driven()
    scene.door.requeue(lost.run_id, "raised")
    tally, database = Tally(), scene.own.database
    address: dict[str, Any] = {"session_id": "s1", "run_id": lost.run_id, "attempt": lost.attempt}
    asks, writes = (
        StreamWriter(database, head=lost.head, tally=tally, **address) for _ in range(2)
    )

    async def tries(writer: StreamWriter) -> None:
        with pytest.raises(RunSuperseded):
            await writer.check()

    async def writes_on(writer: StreamWriter) -> None:
        await writer.put('{"type": "text_delta", "delta": "late"}')
        for _ in range(3):
            with pytest.raises(RunSuperseded):
                await writer.drain()
        await writer.close()

    scene.run(tries(asks))
    assert tally == Tally()
    scene.run(writes_on(writes))
    assert tally == Tally(fenced_writes=1)


def test_a_worker_tells_when_it_swept_and_one_that_never_did_tells_nothing(scene: Scene) -> None:
    sweeps = scene.crew.worker("A").ready()

    def health(worker_id: str) -> Any:
        return scene.door.row(HEALTH, worker_id)

    first = seen(lambda: health(sweeps).swept_at, "its first sweep")
    seen(lambda: health(sweeps).swept_at > first, "a later one")
    assert health(sweeps).swept_at <= health(sweeps).heartbeat_at


@case(41)
def test_a_listening_link_that_is_lost_is_opened_again_and_counted(scene: Scene) -> None:
    address = scene.crew.server("api", "--metrics", lease_ms=60_000).ready()
    scene.listened_to(1)
    assert scraped(address)["reconnects_total"] == 0
    scene.door.execute(END_LISTENERS)
    seen(lambda: scraped(address)["reconnects_total"] == 1, "it listens again")
    run = scene.start("s1", {"say": "Heard."})
    assert scene.settled(run).output == "Heard."
