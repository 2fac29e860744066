"""lockgate.plan_resume: what resume would say, with what a planner must pass on."""

from typing import Any

import pytest

from tests.support import standings
from tests.support.door import Door
from tests.support.standings import stepped
from tests.support.store_client import StoreClient

CONTINUE = {"mode": "continue"}


def plan(db: Door, **more: object) -> Any:
    given = {"session_id": "s1", "agent_type": "support", "options": CONTINUE, **more}
    return db.call("plan_resume", **given)


def test_a_plan_carries_what_to_expect_and_whose_session_it_is(db: Door) -> None:
    drive = stepped(db, user_id="ann", tags=["a"], metadata={"plan": "pro"})
    StoreClient(db).suspend(drive.run_id, "suspended_step_partial")
    with db.nothing_written():
        planned = plan(db)

    assert (planned.outcome, planned.run_id) == ("resumed", drive.run_id)
    assert planned.detail == {
        "expect": {
            "currentRunId": str(drive.run_id),
            "currentRunStatus": "suspended_step_partial",
            "sessionStatus": "paused",
        },
        "identity": {
            "userId": "ann",
            "tags": ["a"],
            "metadata": {"plan": "pro"},
            "parentSessionId": None,
            "rootSessionId": None,
        },
    }


def test_a_plan_to_interrupt_records_no_stop(db: Door) -> None:
    run_id = standings.executing(db)
    with db.nothing_written():
        planned = plan(db, concurrent_entry="interrupt_previous")

    assert (planned.outcome, planned.run_id) == ("interrupting", run_id)
    assert planned.detail["expect"]["currentRunStatus"] == "running"


@pytest.mark.parametrize("changed", ["run", "run status", "session status"])
def test_what_a_plan_saw_is_taken_while_it_stands_and_rejected_after(
    db: Door, changed: str
) -> None:
    run_id = standings.interrupted(db)
    expect = plan(db).detail["expect"]
    causes = {
        "run": ("currentRunId", "current_run_changed"),
        "run status": ("currentRunStatus", "current_run_status_changed"),
        "session status": ("sessionStatus", "session_status_changed"),
    }
    name, cause = causes[changed]
    with db.nothing_written():
        stale = db.resume(expect={**expect, name: "other"}, request_key="k1")

    assert (stale.outcome, stale.cause, stale.run_id) == ("rejected", cause, run_id)
    assert db.resume(expect=expect, request_key="k1").outcome == "resumed"


def test_a_plan_for_a_key_answers_from_its_run(db: Door) -> None:
    standings.interrupted(db)
    run_id = db.resume(request_key="k1").run_id
    with db.nothing_written():
        assert (plan(db, request_key="k1").outcome, plan(db, request_key="k1").run_id) == (
            "attached",
            run_id,
        )


def test_a_plan_names_a_checkpoint_that_is_none(db: Door) -> None:
    run_id = standings.interrupted(db)
    for checkpoint, outcome in ((f"{run_id}:1", "resumed"), (f"{run_id}:7", "invalid_request")):
        options = {"mode": "from_checkpoint", "checkpointId": checkpoint}
        with db.nothing_written():
            assert plan(db, options=options).outcome == outcome


def test_another_users_session_is_none_to_a_plan(db: Door) -> None:
    db.finished(user_id="ann", request_key="k1")
    for more in ({}, {"request_key": "k1"}):
        planned = plan(db, acting_user_id="eve", **more)

        assert (planned.outcome, planned.run_id, planned.detail) == (
            "session_not_found",
            None,
            None,
        )
