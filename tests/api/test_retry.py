"""POST retry, row by row: reference/http.md 12.5."""

from collections.abc import Callable
from typing import Any

import pytest

from lockgate import BeforeEntryContext, Hooks
from tests.api import standing
from tests.api.conftest import MakeApi
from tests.api.rig import Api, agent, as_user, current, error
from tests.api.standing import retry
from tests.support.door import AGENT, Door
from tests.support.proves import proves
from tests.support.rows import row

Stands = Callable[[Api, Door], Any]


def said(db: Door) -> list[str]:
    """Return the texts of a history, in their order."""
    return [part["text"] for m in db.messages() for part in m.content if part["type"] == "text"]


@row("T1")
def test_a_failed_session_goes_on_from_its_last_committed_step(api: Api, db: Door) -> None:
    drive = standing.executing(api, db)
    drive.reply(2, "Lost with the failure.", {"id": "b", "toolName": "look_up", "input": {}})
    drive.finish("failed", error_detail={"message": "m"})
    answer = retry(api)
    run = current(db)
    assert (answer.status_code, answer.json()["status"]) == (200, "resumed")
    assert answer.json()["runId"] == str(run.run_id) != str(drive.run_id)
    assert (run.drive, run.turn, db.session().error_detail) == ("retry", 2, None)
    assert said(db) == ["hi", "Let me see."]


@row("T1")
def test_a_run_that_failed_at_once_keeps_its_input(api: Api, db: Door) -> None:
    run = api.start("s1", "hi").json()
    db.drive(current(db).run_id).finish("failed", error_detail={"message": "m"})
    assert retry(api).json()["runId"] != run["runId"]
    assert said(db) == ["hi"]


@row("T1", "T2")
def test_a_checkpoint_and_a_message_can_be_named(api: Api, db: Door) -> None:
    run_id = standing.failed(api, db)
    given = {"checkpointId": f"{run_id}:1", "message": "try this"}
    assert retry(api, **given).json()["status"] == "resumed"
    assert said(db) == ["hi", "Let me see.", "try this"]


@row("T2")
def test_a_message_is_there_once_however_often_it_is_sent(api: Api, db: Door) -> None:
    standing.failed(api, db)
    first = retry(api, message="again", key="k1").json()
    with db.nothing_written():
        again = retry(api, message="again", key="k1", checkpointId=None)
    assert again.json() == {**first, "status": "attached"}
    assert said(db) == ["hi", "Let me see.", "again"]


@row("T3", "T4", "T8")
@proves("entry_outcome.not_resumable")
@pytest.mark.parametrize(
    "stands",
    [
        standing.completed,
        standing.interrupted,
        standing.paused,
        standing.awaiting,
        standing.stranded,
        standing.never_run,
    ],
)
@pytest.mark.parametrize("policy", ["reject", "interrupt_previous"])
def test_what_has_not_failed_is_not_retried(
    make_api: MakeApi, db: Door, stands: Stands, policy: str
) -> None:
    api = make_api(concurrent_entry=policy)
    stands(api, db)
    with db.nothing_written():
        answer = retry(api)
    assert error(answer) == (409, "state_not_resumable", False)
    assert set(answer.json()) == {"error", "code", "retryable"}
    assert answer.json()["error"].startswith("retry is only for failed sessions")


@row("T4")
def test_a_session_that_failed_before_its_first_run_is_not_retried(api: Api, db: Door) -> None:
    standing.never_run(api, db)
    db.call("fail_session_without_run", session_id="s1", error_detail={"message": "m"})
    with db.nothing_written():
        assert error(retry(api)) == (409, "state_not_resumable", False)


@row("T5")
def test_no_session_and_another_users_are_one(make_api: MakeApi, db: Door) -> None:
    api = make_api({"authenticate": as_user})
    api.start("s1", headers={"x-user": "ann"})
    db.drive(current(db).run_id).finish("failed", error_detail={"message": "m"})
    with db.nothing_written():
        answers = [
            retry(api, headers={"x-user": "bob"}),
            retry(api, headers={"x-user": "ann", "x-tenant": "t1"}),
        ]
    assert [error(answer) for answer in answers] == [(409, "state_session_not_found", False)] * 2


@row("T6")
@pytest.mark.parametrize("checkpoint_id", ["none", "{run_id}:2"])
def test_an_unknown_checkpoint_is_400(api: Api, db: Door, checkpoint_id: str) -> None:
    run_id = standing.failed(api, db)
    with db.nothing_written():
        answer = retry(api, checkpointId=checkpoint_id.format(run_id=run_id))
    assert error(answer) == (400, "validation_error", False)
    assert answer.json()["field"] == "checkpointId"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"checkpointId": 7}, "checkpointId"),
        ({"checkpointId": ""}, "checkpointId"),
        ({"message": ""}, "message"),
        ({"message": [{"role": "assistant", "content": "hi"}]}, "message[0].role"),
        ({"options": {"mode": "continue"}}, "options"),
        ({"sessionId": "s1"}, "sessionId"),
        ({"agentType": None}, "agentType"),
    ],
)
def test_a_body_is_of_the_form(unread: Api, body: dict[str, object], field: str) -> None:
    answer = retry(unread, **body)
    assert error(answer) == (400, "validation_error", False)
    assert answer.json()["field"] == field


@row("T7", "T8")
@pytest.mark.parametrize(
    ("policy", "code", "retryable"),
    [
        ("reject", "state_already_running", True),
        ("interrupt_previous", "state_not_resumable", False),
    ],
)
def test_an_executing_run_is_not_interrupted_by_a_retry(
    make_api: MakeApi, db: Door, policy: str, code: str, retryable: bool
) -> None:
    api = make_api(concurrent_entry=policy)
    standing.executing(api, db)
    with db.nothing_written():
        assert error(retry(api)) == (409, code, retryable)


@row("E14")
def test_another_agent_type_is_409(make_api: MakeApi, db: Door) -> None:
    api = make_api(agents=[agent(), agent("other")])
    standing.failed(api, db)
    with db.nothing_written():
        assert error(retry(api, agentType="other")) == (409, "state_agent_type_mismatch", False)


@row("E22")
def test_the_hook_is_told_the_checkpoint_and_the_message(make_api: MakeApi, db: Door) -> None:
    heard: list[BeforeEntryContext] = []

    async def listen(context: BeforeEntryContext) -> None:
        heard.append(context)

    api = make_api(hooks=Hooks(before_entry=listen))
    run_id = standing.failed(api, db)
    retry(api, checkpointId=f"{run_id}:1", message="again", headers={"x-plan": "gold"})
    _, context = heard
    assert (context.drive, context.agent_type, context.body) == ("retry", AGENT, {})
    assert (context.checkpoint_id, context.message) == (f"{run_id}:1", "again")
    assert (context.options, context.origin.route) == (None, "native")
    assert context.origin.request.headers["x-plan"] == "gold"


@row("Q7", "Q8")
def test_other_input_under_a_retrys_key_is_a_conflict(api: Api, db: Door) -> None:
    run_id = standing.failed(api, db)
    first = retry(api, message="again", key="k1").json()
    with db.nothing_written():
        answers = [
            retry(api, key="k1"),
            retry(api, message="other", key="k1"),
            retry(api, message="again", checkpointId=f"{run_id}:1", key="k1"),
            standing.resume(api, {"mode": "with_message", "message": "again"}, key="k1"),
            api.start("s1", "again", key="k1"),
        ]
    for answer in answers:
        assert error(answer) == (409, "state_request_key_conflict", False)
        assert answer.json()["runId"] == first["runId"]
