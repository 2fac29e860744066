"""What is refused of a submit, and that a refusal leaves the call as it was."""

from typing import Any

import pytest

from tests.support.door import Door, tool
from tests.support.proves import proves
from tests.support.store_client import StoreClient
from tests.support.suspensions import (
    approval,
    client,
    decision,
    delegated,
    plan,
    subagent,
    submit,
    suspended,
)


@proves("submit_tool_result.unknown_tool_call")
def test_a_call_that_there_is_not_is_unknown(db: Door) -> None:
    suspended(db)
    with db.nothing_written():
        nobody = submit(db, "pick-9")
        nowhere = submit(db, session_id="s9")
        elsewhere = submit(db, tenant_id="other")
        nameless = submit(db, session_id=None)

    assert {each.outcome for each in (nobody, nowhere, elsewhere, nameless)} == {
        "unknown_tool_call"
    }
    assert (nobody.session_id, nobody.tool_call_id, nobody.call_run_id) == ("s1", None, None)


@proves("submit_tool_result.unknown_tool_call")
def test_another_users_call_is_unknown(db: Door) -> None:
    suspended(db, user_id="ann")
    with db.nothing_written():
        other = submit(db, acting_user_id="bob")
        looked = plan(db, acting_user_id="bob")

    assert (other.outcome, other.tool_call_id) == ("unknown_tool_call", None)
    assert (looked.outcome, looked.input, looked.agent_type) == ("unknown_tool_call", None, None)
    assert submit(db, acting_user_id="ann").outcome == "accepted"


def test_another_user_does_not_even_learn_that_a_run_executes(db: Door) -> None:
    db.driven(user_id="ann")

    assert submit(db, "pick-9", acting_user_id="ann").outcome == "not_pending_yet"
    assert submit(db, "pick-9", acting_user_id="bob").outcome == "unknown_tool_call"


@proves("submit_tool_result.not_pending_yet")
def test_a_call_that_may_yet_be_announced_is_asked_for_again(db: Door) -> None:
    drive = db.driven()
    with db.nothing_written():
        unheard_of = submit(db)
    drive.reply(1, "your turn", client())
    with db.nothing_written():
        unannounced = submit(db)
    drive.suspend()

    assert (unheard_of.outcome, unheard_of.tool_call_id) == ("not_pending_yet", None)
    assert (unannounced.outcome, unannounced.tool_call_id) == ("not_pending_yet", "pick-1")
    assert submit(db).outcome == "accepted"


def test_what_the_drive_answers_is_not_for_a_client(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "", tool("look-1"), subagent(), client())
    delegated(db, drive)
    with db.nothing_written():
        running = [submit(db, name).outcome for name in ("look-1", "ask-1")]
    drive.result(1, 1)
    drive.suspend()
    with db.nothing_written():
        waiting = [submit(db, name).outcome for name in ("look-1", "ask-1")]

    assert running == ["not_pending_yet"] * 2
    assert waiting == ["unknown_tool_call"] * 2


@proves("submit_tool_result.run_ended")
@pytest.mark.parametrize("by", ["start", "terminal", "landed"])
def test_a_call_whose_run_was_ended_takes_no_answer(db: Door, by: str) -> None:
    first = suspended(db)
    if by == "start":
        db.start(say="never mind")
    else:
        StoreClient(db).end(first.run_id, "failed")
    if by == "terminal":
        StoreClient(db).set_run(first.run_id, "failed")
        StoreClient(db).close(first.run_id, "failed")
    turns = db.session().turn_count
    with db.nothing_written():
        late = submit(db)

    assert (late.outcome, late.call_run_id) == ("run_ended", first.run_id)
    assert db.session().turn_count == turns


@proves("submit_tool_result.kind_mismatch")
def test_a_client_call_takes_no_decision_and_an_approval_no_result(db: Door) -> None:
    suspended(db, client(), approval())
    with db.nothing_written():
        decided = submit(db, answer=decision(db, approved=True))
        given = submit(db, "pay-1", "paid")
        empty = submit(db, "pay-1", None)
        other = submit(
            db, "pay-1", answer={**decision(db, approved=True), "approvalId": "somebody else's"}
        )

    assert [each.outcome for each in (decided, given, empty, other)] == ["kind_mismatch"] * 4
    assert submit(db, "pay-1", answer=decision(db, approved=True)).outcome == "accepted"


@proves("submit_tool_result.invalid_request")
@pytest.mark.parametrize(
    ("answer", "field"),
    [
        ([], "answer"),
        ("yes", "answer"),
        (None, "answer"),
        ({}, "kind"),
        ({"kind": "other"}, "kind"),
        ({"kind": "client-tool-result"}, "result"),
        ({"kind": "client-tool-result", "result": 1, "error": "no"}, "result"),
        ({"kind": "client-tool-result", "error": None}, "error"),
        ({"kind": "client-tool-result", "result": 1, "more": 1}, "answer"),
        ({"kind": "approval-response", "approved": True}, "approvalId"),
    ],
)
def test_an_answer_that_is_not_of_the_form_names_the_field(
    db: Door, answer: Any, field: str
) -> None:
    suspended(db)
    with db.nothing_written():
        refused = submit(db, answer=answer)

    assert (refused.outcome, refused.detail) == ("invalid_request", {"field": field})
    assert (refused.tool_call_id, refused.call_run_id) == (None, None)
