"""lockgate.plan_submit says what a submit would say, and writes nothing."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.door import Door, tool
from tests.support.store_client import StoreClient
from tests.support.suspensions import (
    approval,
    client,
    decision,
    failing,
    plan,
    submit,
    suspended,
    suspends,
)

Asked = dict[str, Any]


def waiting(db: Door) -> Asked:
    suspended(db, user_id="ann", tags=["vip"], metadata={"plan": "gold"})
    return {}


def partly(db: Door) -> Asked:
    suspended(db, client(), client("pick-2"))
    return {}


def an_approval(db: Door) -> Asked:
    suspended(db, approval())
    return {"tool_call_id": "pay-1", "answer": decision(db, approved=False)}


def a_failed_approval(db: Door) -> Asked:
    suspended(db, approval())
    return {"tool_call_id": "pay-1", "answer": failing()}


def answered(db: Door) -> Asked:
    suspended(db, client(), client("pick-2"))
    submit(db)
    return {}


def decided(db: Door) -> Asked:
    suspended(db, approval(), client())
    asked = {"tool_call_id": "pay-1", "answer": decision(db, approved=True)}
    submit(db, **asked)
    return asked


def abandoned(db: Door) -> Asked:
    suspended(db)
    db.start(say="never mind")
    return {}


def landed(db: Door) -> Asked:
    StoreClient(db).end(suspended(db).run_id, "failed")
    return {}


def unannounced(db: Door) -> Asked:
    db.driven().reply(1, "", client())
    return {}


def unheard_of(db: Door) -> Asked:
    db.driven()
    return {}


def a_servers(db: Door) -> Asked:
    db.driven().reply(1, "", tool("pick-1"))
    return {}


def unknown(db: Door) -> Asked:
    suspended(db)
    return {"tool_call_id": "pick-9"}


def another_users(db: Door) -> Asked:
    suspended(db, user_id="ann")
    return {"acting_user_id": "bob"}


def mismatched(db: Door) -> Asked:
    suspended(db, approval())
    return {"tool_call_id": "pay-1"}


def malformed(db: Door) -> Asked:
    suspended(db)
    return {"answer": {"kind": "client-tool-result"}}


def nameless(db: Door) -> Asked:
    suspended(db)
    return {"tool_call_id": None}


def a_childs(db: Door) -> Asked:
    db.create_session("root")
    suspended(
        db, session_id="child", parent_session_id="root", root_session_id="root", user_id="ann"
    )
    return {"session_id": "root"}


SCENES: dict[Callable[[Door], Asked], str] = {
    waiting: "accepted",
    partly: "accepted",
    an_approval: "accepted",
    a_failed_approval: "accepted",
    a_childs: "accepted",
    answered: "already_completed",
    decided: "already_completed",
    abandoned: "run_ended",
    landed: "run_ended",
    unannounced: "not_pending_yet",
    unheard_of: "not_pending_yet",
    a_servers: "not_pending_yet",
    unknown: "unknown_tool_call",
    another_users: "unknown_tool_call",
    mismatched: "kind_mismatch",
    malformed: "invalid_request",
    nameless: "invalid_request",
}


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_a_plan_says_what_the_submit_then_says(db: Door, scene: Callable[[Door], Asked]) -> None:
    asked = scene(db)
    with db.nothing_written():
        planned = plan(db, **asked)
    said = submit(db, **asked)

    assert (planned.outcome, said.outcome) == (SCENES[scene], SCENES[scene])
    for field in ("session_id", "tool_call_id", "tool_name", "call_run_id"):
        assert getattr(planned, field) == getattr(said, field), field
    if planned.outcome != "accepted":
        assert (planned.approved, planned.detail) == (said.approved, said.detail)


def test_a_plan_carries_what_the_owner_needs_to_judge_the_result(db: Door) -> None:
    waiting(db)
    planned = plan(db)

    assert (planned.tool_name, planned.input, planned.agent_type) == ("pick", {}, "support")
    assert planned.detail["identity"] == {
        "userId": "ann",
        "tags": ["vip"],
        "metadata": {"plan": "gold"},
        "parentSessionId": None,
        "rootSessionId": None,
    }


def test_a_plan_of_a_childs_call_names_the_child(db: Door) -> None:
    a_childs(db)
    planned = plan(db, session_id="root")

    assert (planned.session_id, planned.detail["identity"]["userId"]) == ("child", "ann")


def test_a_plan_waits_for_nobody(db: Door) -> None:
    """It is stable: it takes no lock and is given no transaction id."""
    suspended(db)
    db.execute("begin isolation level repeatable read read only")
    planned = plan(db)
    held = db.rows("select from pg_locks where pid = pg_backend_pid() and mode ~ 'Exclusive'")
    db.execute("rollback")

    assert planned.outcome == "accepted"
    assert len(held) == 1, "its own virtual transaction"


def test_a_plan_that_is_late_is_told_so_by_the_submit(db: Door) -> None:
    """A plan is no promise: what stands under the lock counts."""
    first = suspended(db)
    assert plan(db).outcome == "accepted"
    suspends(db.drive(submit(db, result="first").run_id))
    assert plan(db).outcome == "already_completed"
    assert db.calls(first.run_id)[0].response["result"] == "first"
