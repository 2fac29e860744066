"""Every flow, crashed at each of its commits: nothing is lost, nothing is doubled."""

import pytest

from tests.support import flows
from tests.support import flows_of_children as children
from tests.support.flow_client import Flow
from tests.support.flow_crashes import (
    crash,
    done_for,
    hold_done_once,
    hold_left,
    hold_points,
    rows_of,
    until,
)
from tests.support.peer import Peer
from tests.support.points import COMMITS
from tests.support.proves import case
from tests.support.scene import Scene
from tests.support.stage_children import ask_often

# Whether a body did its work that was begun, nobody knows.
BEGUN = (*(("sent", "begin_call"), ("after", "begin_call"), ("before", "commit_result")),)
# What was said in a model call that was stopped is stored by the end that tells of it.
LAST = (("before", "finish_run"),)
# A run whose worker is lost is not waited for: the entry that would stop it supersedes it.
OTHER_ENTRY = ("history", "session", "runs", "settlements", "deliveries", "checkpoints", "usage")

TABLES = {
    "starts": (
        Flow(flows.parallel_tools, commits=10, appends=1),
        Flow(flows.failing_tool, commits=6),
        Flow(flows.tool_that_never_runs_twice, commits=6, lost_at=BEGUN),
        Flow(flows.forced_completion, commits=8),
    ),
    "entries": (
        Flow(flows.several_turns, commits=11),
        Flow(flows.resume_with_message, commits=5),
        Flow(flows.resume_from_checkpoint, commits=5),
        Flow(flows.retry_of_a_failed_run, commits=5),
        Flow(flows.retry_from_a_checkpoint, commits=5),
    ),
    "answers": (
        Flow(flows.approved, commits=8, appends=1),
        Flow(flows.denied, commits=7),
        Flow(flows.partly_answered, commits=4),
    ),
    "stops": (
        Flow(flows.interrupt_in_a_model_call, commits=4, lost_at=LAST),
        Flow(flows.abort_in_a_model_call, commits=4, lost_at=LAST),
        Flow(flows.interrupt_in_a_body, commits=4),
        Flow(flows.abort_in_a_body, commits=4),
        Flow(flows.interrupt_previous, commits=7, lost_at=LAST, lost=OTHER_ENTRY),
    ),
    "sub-agents": (
        Flow(children.sub_agent, commits=13, by_any_runs=True),
        Flow(children.sub_agent_that_is_awaited, commits=13),
        Flow(children.child_that_is_asked, commits=13, by_any_runs=True),
        Flow(children.remote_child, commits=9, by_any_runs=True),
    ),
    "one-of-two": (
        Flow(children.sub_agent, commits=8, whose="root", by_any_runs=True),
        Flow(children.sub_agent, commits=5, whose="child", by_any_runs=True),
        Flow(children.child_that_is_asked, commits=7, whose="root", by_any_runs=True),
        Flow(children.child_that_is_asked, commits=6, whose="child", by_any_runs=True),
    ),
    "companions": (
        Flow(children.companion_that_blocks, commits=21, by_any_runs=True),
        Flow(children.companion_in_the_background, commits=9),
    ),
}


@case(9)
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_flow_that_is_lost_after_or_before_any_commit_ends_as_if_it_was_not(
    scene: Scene, peer: Peer, table: tuple[Flow, ...]
) -> None:
    (scene.stage.folder / "peer").write_text(peer.url)
    peer.status({"status": "completed", "output": {"far": "out"}})
    by_flow = {flow.name: rows_of(scene, flow) for flow in table}
    rows = [row for each in by_flow.values() for row in each]
    dead = crash(scene, rows, prepare=ask_often)
    for flow in table:
        hold_points(scene, flow, by_flow[flow.name], dead.pid)
    scene.crew.worker("takes-over", settled=True, prepare=ask_often).ready()
    until(rows, scene, "ended")
    for flow in table:
        hold_left(scene, flow, by_flow[flow.name])
        hold_done_once(scene, flow, by_flow[flow.name], dead.pid)


@case(10)
def test_a_stop_that_comes_when_the_worker_is_lost_ends_the_run_wherever_it_stood(
    scene: Scene,
) -> None:
    """It is never driven again: no model is asked, and no body begins."""
    flow = Flow(flows.stopped_when_nobody_hears, commits=5)
    rows = rows_of(scene, flow)
    dead = crash(scene, rows)
    hold_points(scene, flow, rows, dead.pid)
    scene.crew.worker("takes-over", settled=True).ready()
    until(rows, scene, "ended")
    for row in rows:
        assert row.client.run_id is not None
        run = scene.door.run(row.client.run_id)
        assert (run.status, run.stop_reason) == ("interrupted", "late"), row.where
        assert scene.settlements(run.run_id) == ["interrupted"], row.where
        assert {each.pid for each in done_for(scene, row)} <= {dead.pid}, row.where


# What only a store client calls, who has a runtime of his own.
FOREIGN = {"commit_run_start", "commit_terminal", "update_run_status", "close_stream"}


def test_every_rule_that_writes_for_a_session_is_one_to_be_lost_at(scene: Scene) -> None:
    writers = scene.door.rows(
        "select p.proname from pg_proc p where p.pronamespace = 'lockgate'::regnamespace"
        " and p.provolatile = 'v' and p.prosecdef"
        " and p.proargnames && '{p_session_id,p_delivery_id}'"
    )
    counted = {rule.__name__ for rule in COMMITS} | {"finish_run", "suspend_run"}
    assert {row.proname for row in writers} == counted | FOREIGN
