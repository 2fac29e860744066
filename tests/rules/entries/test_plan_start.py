"""lockgate.plan_start: what start would say, with what a planner must pass on."""

from uuid import uuid4

import pytest

from tests.support.door import Door
from tests.support.proves import proves


@proves("plan_start.started")
def test_a_plan_on_no_session_carries_what_the_entry_would_make(db: Door) -> None:
    with db.nothing_written():
        plan = db.plan_start(acting_user_id="ann", tags=["a"])

    assert (plan.outcome, plan.run_id) == ("started", None)
    assert plan.detail == {
        "expect": {"currentRunId": None, "currentRunStatus": None, "sessionStatus": None},
        "identity": {
            "userId": "ann",
            "tags": ["a"],
            "metadata": {},
            "parentSessionId": None,
            "rootSessionId": None,
        },
    }


def test_a_plan_carries_whose_session_it_is_not_what_the_entry_says(db: Door) -> None:
    run_id = db.finished(user_id="ann", tags=["a", "b"], metadata={"plan": "pro"})
    plan = db.plan_start(tags=["b", "a"])

    assert plan.detail["identity"]["userId"] == "ann"
    assert plan.detail["identity"]["tags"] == ["a", "b"]
    assert plan.detail["expect"] == {
        "currentRunId": str(run_id),
        "currentRunStatus": "completed",
        "sessionStatus": "completed",
    }


@proves("plan_start.interrupting")
def test_a_plan_to_interrupt_records_no_stop(db: Door) -> None:
    db.beat()
    run_id = db.driven().run_id
    with db.nothing_written():
        plan = db.plan_start(concurrent_entry="interrupt_previous")

    assert (plan.outcome, plan.run_id) == ("interrupting", run_id)
    assert plan.detail["expect"]["currentRunId"] == str(run_id)


def test_what_a_plan_saw_is_accepted_while_it_stands_and_rejected_after(db: Door) -> None:
    db.finished()
    expect = db.plan_start().detail["expect"]
    assert db.start(expect=expect).outcome == "started"
    with db.nothing_written():
        late = db.start(say="late", expect=expect)

    assert (late.outcome, late.cause) == ("already_running", None)
    db.execute("delete from lockgate_store.workers")
    assert db.start(say="late", expect=expect, dispatch_limit_ms=0).cause == "current_run_changed"


def test_a_plan_for_a_key_answers_from_its_run(db: Door) -> None:
    first = db.finished(say="one", request_key="k1")
    assert db.plan_start(say="one", request_key="k1").outcome == "attached"
    db.finished(say="two")
    plan = db.plan_start(say="one", request_key="k1")

    assert (plan.outcome, plan.run_id) == ("request_already_completed", first)


def test_a_plan_names_an_ill_formed_field(db: Door) -> None:
    assert db.plan_start(request_key="two words").detail == {"field": "requestKey"}


@pytest.mark.parametrize("session_id", ["s1", "new"])
def test_a_plan_sees_a_run_id_that_exists_elsewhere(db: Door, session_id: str) -> None:
    db.create_session("s1")
    taken = db.start("elsewhere").run_id
    with db.nothing_written():
        plan = db.plan_start(session_id, run_id=taken)

    assert (plan.outcome, plan.cause) == ("rejected", "run_id_conflict")
    assert db.plan_start(session_id, run_id=uuid4()).outcome == "started"
