"""lockgate.plan_retry: what retry would say, with what a planner must pass on."""

from typing import Any

from tests.support import standings
from tests.support.door import Door


def plan(db: Door, **more: object) -> Any:
    return db.call("plan_retry", session_id="s1", agent_type="support", **more)


def test_a_plan_carries_what_to_expect_and_cuts_nothing(db: Door) -> None:
    run_id = standings.failed(db)
    with db.nothing_written():
        planned = plan(db, message='"again"')

    assert (planned.outcome, planned.run_id) == ("resumed", run_id)
    assert planned.detail["expect"] == {
        "currentRunId": str(run_id),
        "currentRunStatus": "failed",
        "sessionStatus": "failed",
    }
    assert db.retry(expect=planned.detail["expect"], message='"again"').outcome == "resumed"


def test_a_plan_over_a_run_that_executes_never_means_to_interrupt_it(db: Door) -> None:
    run_id = standings.executing(db)
    with db.nothing_written():
        busy = plan(db)
        refused = plan(db, concurrent_entry="interrupt_previous")

    assert (busy.outcome, busy.run_id) == ("already_running", run_id)
    assert (refused.outcome, refused.run_id) == ("not_resumable", run_id)


def test_a_plan_that_has_become_stale_is_rejected(db: Door) -> None:
    first = standings.failed(db)
    expect = plan(db).detail["expect"]
    db.drive(db.retry().run_id).finish("failed")
    with db.nothing_written():
        late = db.retry(expect=expect)

    assert (late.outcome, late.cause) == ("rejected", "current_run_changed")
    assert late.run_id != first


def test_a_plan_names_a_checkpoint_that_is_none(db: Door) -> None:
    standings.failed(db)
    with db.nothing_written():
        planned = plan(db, checkpoint_id="nonsense")

    assert (planned.outcome, planned.detail) == ("invalid_request", {"field": "checkpointId"})


def test_no_session_and_another_users_are_alike_to_a_plan(db: Door) -> None:
    db.driven(user_id="ann").finish("failed")

    assert plan(db, acting_user_id="eve").outcome == "session_not_found"
    assert db.call("plan_retry", session_id="nobody", agent_type="support").outcome == (
        "session_not_found"
    )
