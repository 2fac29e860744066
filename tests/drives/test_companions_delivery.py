"""What a message to a companion becomes, wherever the companion lives: reference/http.md 8."""

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from lockgate import PersistentAgent
from lockgate.companions import Companions
from lockgate.errors import StoreUnavailable
from lockgate.remote import RemoteChildren
from lockgate.rules import entries
from lockgate.tools import run_tool
from tests.support.door import AGENT, tool
from tests.support.family import end, suspend
from tests.support.house import House
from tests.support.peer import BUSY, STARTED, Answer


def test_a_spawn_carries_whose_child_it_is(house: House) -> None:
    local = house.db.session(house.spawned(AGENT, "near"))
    assert (local.user_id, local.tags, local.metadata) == ("ann", ["vip"], {"plan": "gold"})

    child_id = house.spawned("far")
    (asked,) = house.peer.heard("start")
    assert asked.path == f"/sessions/{child_id}/subagent/far/start"
    assert asked.headers["x-from"] == "parent"
    assert asked.body == {
        "sessionId": child_id,
        "agentType": "far",
        "message": "go",
        "userId": "ann",
        "tags": ["vip"],
        "metadata": {"plan": "gold"},
        "parentSessionId": "parent",
        "rootSessionId": "parent",
    }


def test_a_message_to_an_idle_companion_is_a_start_on_it(house: House) -> None:
    child_id = house.spawned(AGENT)
    end(house.db.drive(house.current(child_id)), output="first")
    assert house.send()["result"] == {"delivered": True}
    assert house.db.run(house.current(child_id)).drive == "start"
    assert (house.record().status, house.record().output) == ("running", None)


@pytest.mark.parametrize("status", ["completed", "failed", "interrupted"])
def test_a_message_to_an_idle_remote_companion_is_a_start_with_its_identity(
    house: House, status: str
) -> None:
    house.spawned("far")
    house.peer.status(status)
    assert house.send()["result"] == {"delivered": True}

    _, asked = house.peer.heard("start")
    assert (asked.body["message"], asked.body["userId"]) == ("and now?", "ann")
    assert house.record().status == "running"


def test_a_message_to_any_other_companion_is_a_resume(house: House) -> None:
    """A run that nothing executes is live and takes a message, as the guide says."""
    child_id = house.spawned(AGENT)
    house.db.drive(house.current(child_id), worker_id="gone")
    assert house.send()["result"] == {"delivered": True}
    assert house.db.run(house.current(child_id)).drive == "resume"


@pytest.mark.parametrize("status", ["active", "running", "paused", "suspended_client_tool"])
def test_a_message_to_any_other_remote_companion_is_a_resume(house: House, status: str) -> None:
    child_id = house.spawned("far")
    house.peer.status(status)
    assert house.send()["result"] == {"delivered": True}

    (asked,) = house.peer.heard("resume")
    assert asked.body == {"sessionId": child_id, "message": "and now?"}


def test_a_local_message_is_delivered_once_however_often_it_is_tried(house: House) -> None:
    child_id = house.spawned(AGENT)
    end(house.db.drive(house.current(child_id)))
    for _ in range(2):
        assert house.send("call-1")["result"] == {"delivered": True}
    assert (
        len(house.db.rows("select from lockgate_store.runs where session_id = %s", child_id)) == 2
    )
    end(house.db.drive(house.current(child_id)), "failed")
    assert house.send("call-1")["result"] == {"delivered": True}
    assert house.record().status == "failed", "that message's run has ended by now"


def test_a_busy_companion_is_busy(house: House) -> None:
    child_id = house.spawned(AGENT)
    house.db.drive(house.current(child_id))
    assert house.send()["result"] == {"delivered": False, "reason": "child_busy"}


def test_a_busy_remote_companion_is_busy_and_its_record_untouched(house: House) -> None:
    house.spawned("far")
    before = house.record()
    for status, verb in (("running", "resume"), ("completed", "start")):
        house.peer.status(status)
        house.peer.says(verb, Answer(409, BUSY))
        assert house.send()["result"] == {"delivered": False, "reason": "child_busy"}
    assert house.record() == before


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, {"quota": "fine"}),
        Answer(204, b""),
        Answer(200, b"<html>hello</html>"),
        Answer(200, {**STARTED, "runId": 7}),
    ],
    ids=["a hook's own", "empty", "no JSON", "wrong type"],
)
def test_a_success_of_another_shape_is_a_protocol_error(house: House, answer: Answer) -> None:
    house.spawned("far")
    before = house.record()
    house.peer.status("paused")
    house.peer.says("resume", answer)
    told = house.send()

    assert (told["success"], told["cause"]) == (False, "RemoteProtocolValidationError")
    assert house.record() == before


@pytest.mark.parametrize(
    "answer",
    [Answer(hangs_s=1.0), Answer(cut=True)],
    ids=["no answer in time", "a body that breaks off"],
)
def test_what_nobody_answers_is_unconfirmed(house: House, answer: Answer) -> None:
    house.spawned("far")
    before = house.record()
    house.peer.status("paused")
    house.peer.says("resume", answer)

    assert house.send()["result"] == {"delivered": False, "reason": "child_start_unconfirmed"}
    assert house.record() == before


def test_a_refused_connection_is_unconfirmed(house: House) -> None:
    house.spawned("far")
    nobody = RemoteChildren("http://127.0.0.1:9", timeout_s=0.5)
    agents = (PersistentAgent("far", host=nobody),)
    house.companions = Companions(house.scope, agents)
    assert house.send()["result"] == {"delivered": False, "reason": "child_start_unconfirmed"}


def test_a_local_commit_whose_answer_is_lost_is_unconfirmed(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    child_id = house.spawned(AGENT)
    end(house.db.drive(house.current(child_id)))
    call: Callable[..., Awaitable[Any]] = house.scope.around.database.call

    async def loses(rule: Any, **given: Any) -> Any:
        answer = await call(rule, **given)
        if rule is entries.start:
            raise StoreUnavailable(committed=None)
        return answer

    monkeypatch.setattr(house.scope.around.database, "call", loses)
    assert house.send("call-1")["result"] == {
        "delivered": False,
        "reason": "child_start_unconfirmed",
    }
    monkeypatch.undo()
    assert house.send("call-1")["result"] == {"delivered": True}
    assert (
        len(house.db.rows("select from lockgate_store.runs where session_id = %s", child_id)) == 2
    )


@pytest.mark.parametrize(
    ("answer", "code", "cause", "retryable"),
    [
        (
            Answer(
                409, {"error": "no", "code": "INVALID_REQUEST", "errorCode": "state_not_resumable"}
            ),
            "state_not_resumable",
            None,
            False,
        ),
        (Answer(404, {"error": "no", "code": "NOT_FOUND"}), "NOT_FOUND", None, False),
        (
            Answer(
                409,
                {
                    "error": "no",
                    "code": "INTERNAL_ERROR",
                    "errorCode": "state_run_start_conflict",
                    "cause": "current_run_owned",
                },
            ),
            "state_run_start_conflict",
            "current_run_owned",
            False,
        ),
        (
            Answer(
                503,
                {
                    "error": "no",
                    "code": "INTERNAL_ERROR",
                    "errorCode": "framework_agent_resolution_failed",
                },
            ),
            "framework_agent_resolution_failed",
            None,
            True,
        ),
        (
            Answer(500, {"error": "no", "code": "framework_internal_error", "retryable": True}),
            "framework_internal_error",
            None,
            False,
        ),
        (Answer(502, b"<html>bad gateway</html>"), "transport_error", None, False),
    ],
)
def test_any_other_answer_is_a_typed_error_retryable_on_a_503_alone(
    house: House, answer: Answer, code: str, cause: str | None, retryable: bool
) -> None:
    house.spawned("far")
    before = house.record()
    house.peer.status("paused")
    house.peer.says("resume", answer)
    told = house.send()

    assert (told["success"], told["code"], told.get("cause")) == (False, code, cause)
    assert told["retryable"] is retryable
    assert house.record() == before


def test_a_local_companion_that_waits_for_answers_refuses_with_a_code(house: House) -> None:
    child_id = house.spawned(AGENT)
    child = house.db.drive(house.current(child_id))
    child.reply(1, "", {**tool("pick"), "kind": "client"})
    assert suspend(child).outcome == "suspended"
    told = house.send()

    assert (told["success"], told["code"]) == (False, "state_not_resumable")
    assert house.record().status == "running"


def test_a_local_companion_that_is_gone_is_not_found(house: House) -> None:
    house.db.delete_session(house.spawned(AGENT))
    told = house.send()
    assert (told["success"], told["code"]) == (False, "NOT_FOUND")


def test_a_name_that_nobody_has_is_an_error(house: House) -> None:
    for verb in ("sendMessage", "getChildStatus", "terminateChild"):
        more = {"message": "hi"} if verb == "sendMessage" else {}
        told = house.use(verb, "call-0", name="nobody", **more)
        assert (told["success"], told["code"]) == (False, "validation_error")


def test_under_interrupt_previous_a_message_waits_for_the_run_it_stops(house: House) -> None:
    house.scene.own.host = house.scope.around.host
    object.__setattr__(house.scope.around.host, "concurrent_entry", "interrupt_previous")
    child_id = house.spawned(AGENT)
    child = house.db.drive(house.current(child_id))

    async def sends_while_it_ends() -> Any:
        (made,) = (t for t in house.companions.tools() if t.name == "companion__sendMessage")
        context: Any = SimpleNamespace(tool_call_id="call-1", dedupe_id=f"{house.scope.run_id}:1:1")
        read = made.arguments.read({"name": "scout", "message": "and now?"})
        sending = asyncio.create_task(run_tool(made, read, context))
        while house.db.run(child.run_id).stop_kind is None:
            await asyncio.sleep(0.02)
        await asyncio.to_thread(child.finish, "stopped")
        return await sending

    assert house.scene.run(sends_while_it_ends())["result"] == {"delivered": True}
    assert house.current(child_id) != child.run_id
