"""What a planner read must still hold under the lock."""

from uuid import uuid4

import pytest

from tests.support.door import Door
from tests.support.proves import proves


@proves("start.rejected")
@pytest.mark.parametrize(
    ("cause", "changed"),
    [
        ("current_run_changed", {"currentRunId": None}),
        ("current_run_changed", {"currentRunId": str(uuid4())}),
        ("current_run_status_changed", {"currentRunStatus": "running"}),
        ("session_status_changed", {"sessionStatus": "active"}),
    ],
)
def test_a_plan_that_no_longer_holds_is_rejected_with_the_cause(
    db: Door, cause: str, changed: dict[str, str | None]
) -> None:
    run_id = db.finished()
    plan = {
        "currentRunId": str(run_id),
        "currentRunStatus": "completed",
        "sessionStatus": "completed",
    }
    with db.nothing_written():
        answer = db.start(expect={**plan, **changed}, request_key="k1")

    assert (answer.outcome, answer.cause, answer.run_id) == ("rejected", cause, run_id)
    assert db.start(expect=plan, request_key="k1").outcome == "started"


def test_a_plan_that_saw_no_session_holds_only_while_there_is_none(db: Door) -> None:
    none = {"currentRunId": None, "currentRunStatus": None, "sessionStatus": None}

    assert db.start("s1", expect=none).outcome == "started"
    db.create_session("s2")
    assert db.start("s2", expect=none).cause == "session_status_changed"
