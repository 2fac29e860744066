"""Who takes over, sweeps, hands over or delivers is lost at each of its own commits, too."""

import asyncio
from typing import Any

import pytest

import lockgate.settlement
import lockgate.worker
from lockgate.settlement import HookDelivery
from lockgate.worker_outcomes import ClaimedSettlement
from tests.drives.test_forgotten_batches import look_often
from tests.support import flows
from tests.support.flow_client import Flow
from tests.support.flow_crashes import (
    all_is_told,
    crash,
    dead,
    hold_done_once,
    hold_left,
    hold_points,
    rows_of,
    until,
)
from tests.support.flows import DONE
from tests.support.points import Point, Standstill
from tests.support.proves import case
from tests.support.scene import Scene
from tests.support.seen import seen
from tests.support.standstill import CRASHED

NEVER = Point(999, "after")
SWEEPS: dict[str, Any] = {"sweep_every_s": 0.2, "first_run_limit_ms": 0, "prepare": look_often}
# Each is lost a first time, with its first reply saved or with nothing; then counts the sweeper.
AGAIN = (Flow(flows.approved, commits=8, appends=1), Flow(flows.parallel_tools, commits=10))
FOUND = (Flow(flows.forgotten_batch, commits=4), Flow(flows.session_that_never_ran, commits=1))
SPENT = (Flow(flows.worker_that_is_lost_at_once, commits=1),)


@case(9)
@pytest.mark.parametrize(
    ("table", "first", "more"),
    [
        (AGAIN, Point(2, "after"), {}),
        (FOUND, NEVER, {}),
        (SPENT, Point(1, "after"), {"max_attempts": 1}),
    ],
    ids=["taken over", "found", "given up"],
)
def test_who_sweeps_and_goes_on_is_lost_at_any_commit_and_another_one_ends_it(
    scene: Scene, table: tuple[Flow, ...], first: Point, more: dict[str, Any]
) -> None:
    by_flow = {flow.name: rows_of(scene, flow) for flow in table}
    rows = [row for each in by_flow.values() for row in each]
    lost = crash(scene, rows, "lost", at=first)
    sweeper = crash(scene, rows, "sweeper", **SWEEPS, **more)
    for flow in table:
        hold_points(scene, flow, by_flow[flow.name], sweeper.pid)
    scene.crew.worker("last", settled=True, **SWEEPS, **more).ready()
    until(rows, scene, "ended")
    for flow in table:
        hold_left(scene, flow, by_flow[flow.name])
        hold_done_once(scene, flow, by_flow[flow.name], lost.pid, sweeper.pid)


def test_what_a_sweep_gives_up_or_finds_is_of_one_end(scene: Scene) -> None:
    """So the rows above have not all come to the same wrong one."""
    ends = {}
    for flow in (*FOUND, *SPENT):
        (row,) = rows_of(scene, flow)[-1:]
        at = Point(1, "after") if flow in SPENT else NEVER
        crash(scene, [row], f"lost-{flow.name}", at=at)
        worker = scene.crew.worker(f"takes-{flow.name}", max_attempts=1, **SWEEPS)
        until([row], scene, "ended")
        worker.kill()
        session = row.client.session
        ends[flow.play] = (session.status, (session.error_detail or {}).get("code"))
    assert ends == {
        flows.forgotten_batch: ("completed", None),
        flows.session_that_never_ran: ("failed", "framework_internal_error"),
        flows.worker_that_is_lost_at_once: ("failed", "framework_auto_resume_exhausted"),
    }


def leave_slowly() -> None:
    """Let all of them come to their points, however busy the machine is."""
    lockgate.worker.LEAST_S = 60.0


@case(6)
def test_a_hand_over_that_is_lost_at_its_commit_is_made_by_the_next_sweep(scene: Scene) -> None:
    flow = Flow(flows.drained, commits=0)
    whens = ("before", "sent", "after")
    rows = [row for row in rows_of(scene, Flow(flows.drained, commits=1)) if row.point.n == 1]
    points = {row.name: Point(1, row.point.when, "requeue_run") for row in rows}
    assert {point.when for point in points.values()} == {*whens}
    leaving = scene.crew.worker(
        "leaves", crash=Standstill(points), sweep_every_s=600, drain_s=0.1, prepare=leave_slowly
    )
    until(rows, scene, "at rest", leaving.pid)
    for row in rows:
        row.client.rests = False
    leaving.terminate()
    scene.stage.seen("stands", len(rows))
    dead(scene, rows, leaving)
    scene.crew.worker("last", settled=True).ready()
    until(rows, scene, "ended")
    assert {row.client.session.status for row in rows} == {"completed"}
    assert {row.client.session.output for row in rows} == {DONE["say"]}
    hold_left(scene, flow, rows)
    for row in rows:
        assert row.stands["rule"] == "requeue_run"
        bodies = scene.stage.notes("tool", run=row.client.run_id)
        assert [note["pid"] == leaving.pid for note in bodies] == [True, False], row.where
        assert scene.door.rows("select from lockgate_store.runs where stop_kind is not null") == []


# Deliveries: how often the hook is told of a settlement, by where its first deliverer is lost.

TOLD = {
    "unheard": 1,  # claimed, and not told yet
    "waits": 2,  # the hook is under way
    "before": 2,  # the hook has returned, and that is not committed
    "sent": 1,  # the mark is on its way
    "after": 1,
}


def lose_the_unheard() -> None:
    """Have a settlement claimed and never told; and all that is claimed is soon offered again."""
    offer_soon()
    call_hook = HookDelivery._call_hook

    async def stuck(self: HookDelivery, settlement: ClaimedSettlement) -> str | None:
        if settlement.session_id == "unheard":
            await asyncio.Event().wait()
        return await call_hook(self, settlement)

    HookDelivery._call_hook = stuck  # type: ignore[method-assign]


def offer_soon() -> None:
    lockgate.settlement.LEASE_MS = 500


def test_a_deliverer_that_is_lost_anywhere_is_followed_by_one_who_tells_at_least_once(
    scene: Scene,
) -> None:
    driver = scene.crew.worker("drives")
    runs = {name: scene.start(name, DONE) for name in TOLD}
    assert {scene.settled(run).status for run in runs.values()} == {"completed"}
    driver.kill()
    marks: dict[str, Point] = {
        name: Point(1, name, "mark_delivered") for name in ("before", "sent", "after")
    }
    lost = scene.crew.worker(
        "delivers", crash=Standstill(marks), settled=True, prepare=lose_the_unheard
    )
    scene.stage.seen("stands", len(marks))
    scene.stage.seen("waits", gate="settled-waits")
    seen(lambda: claimed(scene, "unheard"), "it is claimed")
    scene.stage.open("die")
    assert lost.ended() == CRASHED
    scene.stage.open("settled-waits")
    scene.crew.worker("last", settled=True, prepare=offer_soon).ready()
    seen(lambda: all_is_told(scene), "all is marked")
    told = {
        name: [note["delivery"] for note in scene.stage.notes("settled", run=run.run_id)]
        for name, run in runs.items()
    }
    assert told == {name: [f"{runs[name].run_id}:completed"] * TOLD[name] for name in TOLD}


def claimed(scene: Scene, session_id: str) -> bool:
    query = (
        "select from lockgate_store.deliveries where session_id = %s and claimed_until is not null"
    )
    return bool(scene.door.rows(query, session_id))
