"""POST submit-tool-result where it is refused: the call stays pending. reference/http.md 12.6."""

from typing import Any

import psycopg
import pytest

from lockgate.rules import tool_calls
from tests.api.conftest import MakeApi
from tests.api.pending import (
    continuation,
    decision,
    failure,
    result,
    stored,
    submit,
    suspend,
    suspended,
    waiting,
)
from tests.api.rig import Api, as_user, error
from tests.support.door import Door
from tests.support.proves import case
from tests.support.rows import row


@row("U1")
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "kind"),
        ([], None),
        ({"kind": "other", "toolCallId": "c", "result": 1}, "kind"),
        ({"kind": "client-tool-result", "toolCallId": "c"}, "result"),
        ({"kind": "client-tool-result", "toolCallId": "c", "result": 1, "error": "e"}, "result"),
        ({"kind": "client-tool-result", "toolCallId": "c", "error": None}, "error"),
        ({"kind": "client-tool-result", "result": 1}, "toolCallId"),
        ({"kind": "client-tool-result", "toolCallId": "c", "result": 1, "approved": True}, None),
        ({"kind": "approval-response", "toolCallId": "c", "approved": True}, "approvalId"),
        ({"kind": "approval-response", "toolCallId": "c", "approvalId": "a"}, "approved"),
        (
            {"kind": "approval-response", "toolCallId": "c", "approvalId": "a", "approved": 1},
            "approved",
        ),
        (
            {
                "kind": "approval-response",
                "toolCallId": "c",
                "approvalId": "a",
                "approved": True,
                "reason": 5,
            },
            "reason",
        ),
    ],
)
def test_what_is_no_answer_is_refused_before_anything_is_read(
    unread: Api, body: object, field: str | None
) -> None:
    answer = submit(unread, body)
    assert error(answer) == (400, "invalid_payload", False)
    assert answer.json()["error"] == "Invalid request body"
    assert field is None or answer.json()["field"] == field


@row("U1")
def test_what_is_wrong_with_it_is_told_only_when_asked_for(make_unread: MakeApi) -> None:
    api = make_unread({"verbose_validation_errors": True})
    answer = submit(api, {"kind": "client-tool-result", "toolCallId": "c"})
    assert error(answer) == (400, "invalid_payload", False)
    assert answer.json()["error"].startswith("Invalid request body: ")


@case(48)
@row("U2")
@pytest.mark.parametrize(
    ("body", "field"),
    [
        (result(1, "c" * 257), "toolCallId"),
        (result(1, ""), "toolCallId"),
        (failure("e" * 8_193), "error"),
        (failure("€" * 2_731), "error"),
        (result("r" * 1_100_000), "result"),
        (
            {
                "kind": "approval-response",
                "toolCallId": "call-1",
                "approvalId": "a" * 257,
                "approved": True,
            },
            "approvalId",
        ),
    ],
    ids=["long id", "no id", "long error", "wide error", "long result", "long approval id"],
)
def test_what_is_too_long_is_refused(api: Api, db: Door, body: object, field: str) -> None:
    suspended(api, db, "pick")
    with db.nothing_written():
        answer = submit(api, body)
    assert error(answer) == (400, "invalid_payload", False)
    assert answer.json()["field"] == field
    assert submit(api, result("r" * 1_000_000)).status_code == 200


@case(45)
def test_an_odd_number_is_refused(api: Api, db: Door) -> None:
    suspended(api, db, "pick")
    for word in (b"NaN", b"-Infinity", b"1e309"):
        body = b'{"kind":"client-tool-result","toolCallId":"call-1","result":{"a":' + word + b"}}"
        with db.nothing_written():
            assert error(submit(api, body)) == (400, "validation_error", False)


@row("U3")
def test_a_call_that_nobody_knows_is_404(make_api: MakeApi, db: Door) -> None:
    api = make_api({"authenticate": as_user})
    ann, bob = {"x-user": "ann"}, {"x-user": "bob"}
    suspended(api, db, "pick", headers=ann)
    with db.nothing_written():
        refusals = [
            submit(api, result(1), session_id="nobody", headers=ann),
            submit(api, result(1, "other"), headers=ann),
            submit(api, result(1), headers=bob),
            submit(api, result(1), headers={**ann, "x-tenant": "t2"}),
        ]
    assert [error(each) for each in refusals] == [(404, "unknown_tool_call", False)] * 4
    assert submit(api, result(1), headers=ann).status_code == 200


@row("U3")
def test_a_tombstone_past_its_retention_is_forgotten(api: Api, db: Door) -> None:
    suspended(api, db, "pick")
    submit(api, result(1))
    drive = db.drive(continuation(db).run_id)
    drive.reply(1, "Thanks.")
    drive.finish()
    assert submit(api, result(2)).json()["status"] == "already_completed"
    db.execute(
        "update lockgate_store.tool_calls set consumed_at = consumed_at - interval '1 minute'"
    )
    assert error(submit(api, result(2))) == (404, "unknown_tool_call", False)


@case(12)
@row("U4")
@pytest.mark.parametrize("tool_call_id", ["call-1", "call-9"])
def test_an_answer_before_the_announcement_is_told_to_come_again(
    api: Api, db: Door, tool_call_id: str
) -> None:
    drive = waiting(api, db, "pick")
    with db.nothing_written():
        answer = submit(api, result("red", tool_call_id))
    assert error(answer) == (409, "state_not_resumable", True)
    assert answer.json()["cause"] == "not_pending_yet"
    assert api.get("/sessions/s1/snapshot").json()["pending"] == []
    assert api.get("/sessions/s1/status").json()["awaitingToolCallIds"] == []
    suspend(drive)
    assert submit(api, result("red")).json()["status"] == "accepted"


@row("U5")
def test_an_answer_after_the_end_is_final(api: Api, db: Door) -> None:
    drive = suspended(api, db, "pick")
    newer = api.start(say="never mind").json()["runId"]
    with db.nothing_written():
        answer = submit(api, result("red"))
    assert error(answer) == (409, "state_not_resumable", False)
    assert (answer.json()["cause"], answer.json()["runId"]) == ("run_ended", str(drive.run_id))
    assert str(db.session().current_run_id) == newer


@row("U8")
def test_an_answer_of_another_kind_is_refused(api: Api, db: Door) -> None:
    suspended(api, db, "pick", "pay")
    other = {**decision(db, True, "call-2"), "approvalId": "another"}
    as_approval = {**decision(db, True, "call-2"), "toolCallId": "call-1"}
    with db.nothing_written():
        for body in (result(1, "call-2"), other, as_approval):
            assert error(submit(api, body)) == (400, "validation_error", False)
    assert submit(api, decision(db, True, "call-2")).status_code == 200


@row("U20")
def test_an_owner_that_cannot_be_read_is_a_retryable_503(
    unread: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any, **__: Any) -> Any:
        raise ValueError("Bearer abc.def")

    monkeypatch.setattr("lockgate.reads.Reads.database", Database(broken))
    answer = submit(unread, result(1))
    assert error(answer) == (503, "framework_internal_error", True)
    assert "abc.def" not in answer.text


class Database:
    """A database of which one call is known."""

    def __init__(self, call: Any) -> None:
        self.call = call


def lose_answers(api: Api, monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Let the next submits commit, and lose what the database says of it."""
    call_once = api.runtime.database.call_once
    left = iter(range(times))

    async def lossy(rule: Any, *args: Any, **given: Any) -> Any:
        answer = await call_once(rule, *args, **given)
        if rule is tool_calls.submit_tool_result and next(left, None) is not None:
            raise psycopg.OperationalError("the link is gone")
        return answer

    monkeypatch.setattr("lockgate.database.FIRST_WAIT_S", 0.0)
    monkeypatch.setattr(api.runtime.database, "call_once", lossy)


@row("U24")
def test_a_lost_answer_is_no_503_and_to_submit_again_is_safe(
    api: Api, db: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    suspended(api, db, "pick")
    lose_answers(api, monkeypatch, times=4)
    assert error(submit(api, result("red"))) == (500, "framework_store_unavailable", False)
    monkeypatch.undo()
    assert submit(api, result("red")).json()["status"] == "already_completed"
    assert stored(db).response["result"] == "red"
    assert len(db.rows("select from lockgate_store.runs")) == 2


@row("U24")
def test_a_lost_answer_that_is_read_back_says_what_stands(
    api: Api, db: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    hurried: list[int] = []
    api.runtime.kick = lambda: hurried.append(1)
    suspended(api, db, "pick")
    hurried.clear()
    lose_answers(api, monkeypatch, times=1)
    assert submit(api, result("red")).json()["status"] == "already_completed"
    assert continuation(db).drive == "continue"
    assert hurried, "nobody was told of the run that goes on"
