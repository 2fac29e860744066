"""POST resume, row by row: reference/http.md 12.4."""

from collections.abc import Callable
from typing import Any

import pytest

from lockgate import BeforeEntryContext, EntryRefused, FromCheckpoint, Hooks, WithMessage
from lockgate.rules import entries
from tests.api import standing
from tests.api.conftest import MakeApi
from tests.api.rig import Api, agent, as_user, current, error
from tests.api.standing import CONTINUE, resume
from tests.support.door import Door
from tests.support.proves import proves
from tests.support.rows import row

Stands = Callable[[Api, Door], Any]
SAY_ON = {"mode": "with_message", "message": "go on"}


def said(db: Door) -> list[str]:
    """Return the texts of a history, in their order."""
    return [part["text"] for m in db.messages() for part in m.content if part["type"] == "text"]


@row("R1", "E4")
@proves("entry_outcome.resumed")
@pytest.mark.parametrize("stands", [standing.interrupted, standing.paused, standing.stranded])
def test_a_session_that_stands_still_goes_on(api: Api, db: Door, stands: Stands) -> None:
    before = stands(api, db)
    head = db.stream().head_sequence
    answer = resume(api)
    run = current(db)
    assert (answer.status_code, answer.json()) == (
        200,
        {
            "sessionId": "s1",
            "streamId": "s1",
            "runId": str(run.run_id),
            "status": "resumed",
            "startSequence": run.start_sequence,
        },
    )
    assert run.run_id != before
    assert (run.drive, run.turn, run.start_sequence >= head) == ("resume", 2, True)
    assert said(db) == ["hi", "Let me see."], "a run that goes on brings nothing of its own"


@row("R2")
@pytest.mark.parametrize("message", ["go on", [{"role": "user", "content": "go on"}]])
def test_a_message_comes_after_what_is_there(api: Api, db: Door, message: object) -> None:
    standing.interrupted(api, db)
    assert resume(api, {**SAY_ON, "message": message}).json()["status"] == "resumed"
    assert said(db) == ["hi", "Let me see.", "go on"]


@row("R3")
def test_a_checkpoint_takes_the_history_back(api: Api, db: Door) -> None:
    first = standing.interrupted(api, db)
    resume(api, SAY_ON)
    db.drive(current(db).run_id).reply(1, "More.")
    standing.stop(db)
    answer = resume(api, {"mode": "from_checkpoint", "checkpointId": f"{first}:1"})
    assert answer.json()["status"] == "resumed"
    assert said(db) == ["hi", "Let me see."]


@row("R4", "R5")
@pytest.mark.parametrize(
    "options",
    [
        None,
        {},
        "continue",
        [],
        {"mode": None},
        {"mode": ["continue"]},
        {"mode": "retry"},
        {"mode": "branch", "checkpointId": "c"},
        {"mode": "with_confirmation", "approved": True},
        {"mode": "Continue"},
        {**CONTINUE, "checkpointId": "c"},
        {**CONTINUE, "modifyState": {}},
        {**CONTINUE, "appendMessages": []},
        {**CONTINUE, "message": "go on"},
        {"mode": "with_message"},
        {"mode": "with_message", "message": ""},
        {"mode": "with_message", "message": []},
        {**SAY_ON, "checkpointId": "c"},
        {"mode": "from_checkpoint"},
        {"mode": "from_checkpoint", "checkpointId": ""},
        {"mode": "from_checkpoint", "checkpointId": 7},
    ],
)
def test_options_are_one_of_three_shapes(unread: Api, options: object) -> None:
    answer = resume(unread, options)
    assert error(answer) == (400, "validation_error", False)
    assert answer.json()["field"].startswith("options")


@row("R4")
@pytest.mark.parametrize("extra", ["branch", "input", "sessionId", "userId", "checkpointId"])
def test_a_body_has_two_fields(unread: Api, extra: str) -> None:
    answer = resume(unread, **{extra: "s1"})
    assert error(answer) == (400, "validation_error", False)
    assert answer.json()["field"] == extra


@row("R6")
@pytest.mark.parametrize("checkpoint_id", ["none", "{run_id}:2", "{run_id}:01", "{elsewhere}:1"])
def test_a_checkpoint_of_no_such_place_is_400(api: Api, db: Door, checkpoint_id: str) -> None:
    run_id = standing.interrupted(api, db)
    elsewhere = db.driven("s2")
    elsewhere.reply(1, "Elsewhere.")
    elsewhere.finish()
    name = checkpoint_id.format(run_id=run_id, elsewhere=elsewhere.run_id)
    with db.nothing_written():
        answer = resume(api, {"mode": "from_checkpoint", "checkpointId": name})
    assert error(answer) == (400, "validation_error", False)
    assert "checkpointId" in answer.json()["field"]


@row("R7")
def test_no_session_is_409(api: Api, db: Door) -> None:
    with db.nothing_written():
        assert error(resume(api)) == (409, "state_session_not_found", False)


@row("R8")
def test_another_users_session_is_none(make_api: MakeApi, db: Door) -> None:
    api = make_api({"authenticate": as_user})
    api.start("s1", headers={"x-user": "ann"})
    with db.nothing_written():
        answer = resume(api, headers={"x-user": "bob"})
    assert error(answer) == (409, "state_session_not_found", False)


@row("R9", "R13")
@pytest.mark.parametrize("stands", [standing.completed, standing.failed, standing.never_run])
def test_a_session_that_does_not_go_on_is_409(api: Api, db: Door, stands: Stands) -> None:
    stands(api, db)
    with db.nothing_written():
        answer = resume(api, key="k1")
    assert error(answer) == (409, "state_not_resumable", False)
    assert set(answer.json()) == {"error", "code", "retryable"}


@row("R10")
def test_awaited_calls_are_named_first_and_it_is_retryable(api: Api, db: Door) -> None:
    standing.awaiting(api, db)
    awaited = [call.tool_call_id for call in db.calls(current(db).run_id) if call.kind == "client"]
    with db.nothing_written():
        answer = resume(api, SAY_ON)
    assert error(answer) == (409, "state_not_resumable", True)
    assert answer.json()["error"].startswith(", ".join(awaited))
    assert len(awaited) == 2


@row("R11")
def test_awaited_children_make_it_retryable(api: Api, db: Door) -> None:
    standing.awaiting_children(api, db)
    with db.nothing_written():
        answer = resume(api)
    assert error(answer) == (409, "state_not_resumable", True)


@row("R12")
def test_a_session_deleted_meanwhile_is_409(make_api: MakeApi, db: Door) -> None:
    async def leave(context: BeforeEntryContext) -> None:
        if context.drive == "resume":
            db.call("delete_session", session_id="s1")

    api = make_api(hooks=Hooks(before_entry=leave))
    standing.interrupted(api, db)
    assert error(resume(api)) == (409, "state_session_not_found", False)
    assert db.rows("select from lockgate_store.sessions") == []


@row("E6")
def test_an_executing_run_is_busy(api: Api, db: Door) -> None:
    standing.executing(api, db)
    with db.nothing_written():
        assert error(resume(api)) == (409, "state_already_running", True)


@row("E14")
def test_another_agent_type_is_409(make_api: MakeApi, db: Door) -> None:
    api = make_api(agents=[agent(), agent("other")])
    standing.interrupted(api, db)
    with db.nothing_written():
        answer = resume(api, agentType="other")
    assert error(answer) == (409, "state_agent_type_mismatch", False)


@row("E22")
@pytest.mark.parametrize(
    ("options", "told"),
    [
        (SAY_ON, WithMessage("go on")),
        ({"mode": "from_checkpoint", "checkpointId": "{run_id}:1"}, FromCheckpoint("{run_id}:1")),
    ],
)
def test_the_hook_is_told_the_options_and_may_refuse(
    make_api: MakeApi, db: Door, options: dict[str, str], told: Any
) -> None:
    heard: list[BeforeEntryContext] = []

    async def listen(context: BeforeEntryContext) -> None:
        heard.append(context)
        if context.drive == "resume":
            raise EntryRefused("validation_error", "No more.")

    api = make_api(hooks=Hooks(before_entry=listen))
    run_id = standing.interrupted(api, db)
    with db.nothing_written():
        answer = resume(api, {k: v.format(run_id=run_id) for k, v in options.items()})
    assert error(answer) == (500, "framework_hook_failed", False)
    _, context = heard
    assert (context.drive, context.body, context.message) == ("resume", {}, None)
    expected = told if isinstance(told, WithMessage) else FromCheckpoint(f"{run_id}:1")
    assert context.options == expected


@row("E24")
def test_who_loses_the_race_plans_once_more(
    make_api: MakeApi, db: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def admit(context: BeforeEntryContext) -> None:
        return None

    api = make_api(hooks=Hooks(before_entry=admit), dispatch_limit_ms=0)
    standing.interrupted(api, db)
    db.execute("delete from lockgate_store.workers")
    call = api.runtime.database.call
    overtaken: list[Any] = []

    async def overtake(rule: Any, *args: Any, **given: Any) -> Any:
        if rule is entries.resume and not overtaken:
            overtaken.append(db.start("s1", "overtakes", dispatch_limit_ms=0))
        return await call(rule, *args, **given)

    monkeypatch.setattr(api.runtime.database, "call", overtake)
    assert resume(api, key="k1").json()["status"] == "resumed"
    assert [run.turn for run in db.rows("select turn from lockgate_store.runs")] == [1, 2, 3]


@row("Q4", "Q5", "Q7", "Q8", "Q6")
def test_a_key_belongs_to_one_resume(api: Api, db: Door) -> None:
    standing.interrupted(api, db)
    first = resume(api, SAY_ON, key="k1").json()
    with db.nothing_written():
        attached = resume(api, SAY_ON, key="k1")
        conflicts = [
            resume(api, key="k1"),
            resume(api, {**SAY_ON, "message": "go on!"}, key="k1"),
            resume(api, SAY_ON, key="k1", agentType="other"),
            resume(api, {"mode": "from_checkpoint", "checkpointId": "c"}, key="k1"),
            standing.retry(api, message="go on", key="k1"),
            api.start("s1", "go on", key="k1"),
        ]
    assert attached.json() == {**first, "status": "attached"}
    for answer in conflicts:
        assert error(answer) == (409, "state_request_key_conflict", False)
        assert answer.json()["runId"] == first["runId"]
    db.drive(current(db).run_id).finish()
    assert resume(api, SAY_ON, key="k1").json() == {**first, "status": "attached"}
    api.start("s1", "another turn")
    over = resume(api, SAY_ON, key="k1")
    assert error(over) == (409, "state_request_already_completed", False)
    assert over.json()["runId"] == first["runId"]


@row("Q11")
def test_a_refused_resume_leaves_its_key_free(api: Api, db: Door) -> None:
    standing.completed(api, db)
    assert resume(api, key="k1").status_code == 409
    api.start("s1", "more")
    standing.stop(db)
    assert resume(api, key="k1").json()["status"] == "resumed"
