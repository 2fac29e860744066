"""lockgate.continue_session: a paused session that waits for nothing any more goes on, once."""

import pytest

from tests.support.door import Door
from tests.support.family import calling, end, waiting
from tests.support.proves import proves
from tests.support.store_client import StoreClient
from tests.support.suspensions import (
    approval,
    client,
    decision,
    forget_to_continue,
    results,
    submit,
    suspended,
)


def forget_the_end(db: Door, status: str = "completed", **columns: object) -> None:
    """Record the end of all children, as somebody does who answers no call with it."""
    db.execute(
        "update lockgate_store.children set status = %s, ended_at = lockgate.now(), output = %s,"
        " error_detail = %s",
        status,
        columns.get("output"),
        columns.get("error_detail"),
    )


@proves("continue_session.session_not_found")
def test_no_session_and_another_users_are_not_found(db: Door) -> None:
    drive = suspended(db, user_id="ann")
    forget_to_continue(db, drive.run_id)
    with db.nothing_written():
        for named in ({"session_id": "s9"}, {"session_id": "s1", "acting_user_id": "bob"}):
            assert db.call("continue_session", **named).outcome == "session_not_found"

    mine = {"session_id": "s1", "acting_user_id": "ann"}
    assert db.call("continue_session", **mine).outcome == "continued"


@proves("continue_session.continued")
def test_a_batch_whose_last_answer_started_nothing_goes_on_once(db: Door) -> None:
    drive = suspended(db, client("a"), client("b"))
    submit(db, "a", "first")
    forget_to_continue(db, drive.run_id)
    answer = db.call("continue_session", session_id="s1")

    assert answer.outcome == "continued"
    assert db.run(answer.run_id).drive == "continue"
    assert db.run(drive.run_id).status == "superseded"
    assert [result["result"] for result in results(db)] == ["first", "forgotten"]
    assert db.drive(answer.run_id).finish().outcome == "finished"
    with db.nothing_written():
        assert db.call("continue_session", session_id="s1").outcome == "stale"


def test_what_was_approved_is_still_to_be_run(db: Door) -> None:
    drive = suspended(db, approval(), client("a"))
    submit(db, "pay-1", answer=decision(db, True))
    forget_to_continue(db, drive.run_id)
    run_id = db.call("continue_session", session_id="s1").run_id

    calls = {call.tool_call_id: call for call in db.calls(run_id)}
    assert (calls["pay-1"].status, calls["pay-1"].approved) == ("pending", True)
    assert calls["a"].status == "answered"


@pytest.mark.parametrize("status", ["completed", "failed"])
def test_the_end_of_a_sub_agent_is_the_answer_to_its_call(db: Door, status: str) -> None:
    parent, _ = waiting(db, "a", "b")
    assert db.call("continue_session", session_id="parent").outcome == "stale"
    forget_the_end(db, status, output='"found"', error_detail='{"message": "it broke"}')
    answer = db.call("continue_session", session_id="parent")

    assert answer.outcome == "continued"
    said = {"result": "found"} if status == "completed" else {"error": "it broke"}
    told = [(r["toolCallId"], r["success"]) for r in results(db, "parent")]
    assert told == [(name, status == "completed") for name in ("a", "b")]
    assert all(said.items() <= result.items() for result in results(db, "parent"))
    assert db.run(parent.run_id).status == "superseded"


def test_a_child_that_ends_after_all_starts_nothing_more(db: Door) -> None:
    _, (child,) = waiting(db, "a")
    forget_the_end(db, output='"found"')
    run_id = db.call("continue_session", session_id="parent").run_id
    assert end(child, "failed").outcome == "finished"

    assert db.session("parent").current_run_id == run_id
    assert [result["result"] for result in results(db, "parent")] == ["found"]


@proves("continue_session.stale")
@pytest.mark.parametrize("how", ["running", "awaited", "child awaited", "ended", "never run"])
def test_a_session_that_waits_or_does_not_is_left_alone(db: Door, how: str) -> None:
    if how == "running":
        calling(db, "a", session_id="s1")
    if how == "awaited":
        suspended(db, client("a"), client("b"))
        submit(db, "a")
    if how == "child awaited":
        waiting(db, "a", session_id="s1")
    if how == "ended":
        drive = suspended(db)
        forget_to_continue(db, drive.run_id)
        assert StoreClient(db).end(drive.run_id, "failed").outcome == "written"
    if how == "never run":
        db.create_session()
    with db.nothing_written():
        assert db.call("continue_session", session_id="s1").outcome == "stale"


def test_a_stop_that_was_flagged_is_inherited_by_the_run_that_goes_on(db: Door) -> None:
    drive = suspended(db)
    flagged = {"session_id": "s1", "run_id": drive.run_id, "include_suspended": True}
    assert db.call("interrupt", **flagged).outcome == "stopping"
    forget_to_continue(db, drive.run_id)

    run_id = db.call("continue_session", session_id="s1").run_id
    assert db.run(run_id).stop_kind == "interrupt"
