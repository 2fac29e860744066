"""The tools for companions but the message: spawn, list, status, terminate, and where they wait."""

from typing import Any

import pytest

from lockgate import PersistentAgent, define_agent
from lockgate.companions import Companions
from lockgate.database import Database
from lockgate.models.scripted import ScriptedModel
from tests.support.door import AGENT
from tests.support.family import end, records
from tests.support.house import House
from tests.support.peer import BUSY, Answer


def names(house: House, *agents: PersistentAgent) -> list[str]:
    return [tool.name for tool in Companions(house.scope, agents).tools()]


def test_a_wait_is_offered_only_where_a_companion_is_blocking(house: House) -> None:
    own = define_agent("helper", model=ScriptedModel())
    offered = names(house, PersistentAgent(own))
    assert offered == [
        f"companion__{name}"
        for name in (
            "spawnAgent",
            "sendMessage",
            "listChildren",
            "getChildStatus",
            "terminateChild",
        )
    ]
    more = names(house, PersistentAgent(own), PersistentAgent("far", mode="blocking"))
    assert more == [*offered, "companion__waitForResult"]


def test_a_message_to_another_host_is_never_sent_twice(house: House) -> None:
    """A local message is known by its run; of a remote one nobody would know the repeat."""
    own = PersistentAgent(define_agent("helper", model=ScriptedModel()))
    local = {tool.name: tool.replay for tool in Companions(house.scope, (own,)).tools()}
    mixed = {tool.name: tool.replay for tool in house.companions.tools()}
    assert local["companion__sendMessage"] == "safe"
    assert mixed["companion__sendMessage"] == "never"
    assert {mixed[name] for name in mixed if name != "companion__sendMessage"} == {"safe"}


def test_only_an_agent_that_was_named_is_spawned(house: House) -> None:
    told = house.use("spawnAgent", agent="nobody", name="scout", initialMessage="go")
    assert (told["success"], told["code"]) == (False, "validation_error")
    assert records(house.db) == []


@pytest.mark.parametrize("agent", [AGENT, "far"])
def test_a_name_is_given_once(house: House, agent: str) -> None:
    house.spawned(AGENT)
    told = house.use("spawnAgent", agent=agent, name="scout", initialMessage="go")
    assert (told["success"], told["code"]) == (False, "validation_error")
    assert "scout" in str(told["error"])
    assert house.peer.heard("start") == []


def test_a_spawn_that_is_repeated_finds_its_own_child(house: House) -> None:
    first = house.use("spawnAgent", "call-0", agent=AGENT, name="scout", initialMessage="go")
    again = house.use("spawnAgent", "call-0", agent=AGENT, name="scout", initialMessage="go")
    assert first == again
    assert len(records(house.db)) == 1


@pytest.mark.parametrize(("there", "starts"), [(None, 2), ("running", 1), ("completed", 1)])
def test_a_remote_spawn_that_is_repeated_starts_only_what_is_not_there(
    house: House, there: str | None, starts: int
) -> None:
    house.peer.status(there)
    first = house.use("spawnAgent", "call-0", agent="far", name="scout", initialMessage="go")
    again = house.use("spawnAgent", "call-0", agent="far", name="scout", initialMessage="go")
    assert first == again
    assert len(house.peer.heard("start")) == starts
    assert {asked.body["sessionId"] for asked in house.peer.heard("start")} == {
        first["result"]["childSessionId"]
    }


def test_a_spawn_attaches_to_a_child_that_is_running(house: House) -> None:
    house.peer.says("start", Answer(409, BUSY))
    assert house.spawned("far")
    assert house.record().status == "running"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Answer(409, {"error": "no", "code": "ALREADY_COMPLETED"}), "ALREADY_COMPLETED"),
        (
            Answer(
                409,
                {"error": "no", "code": "INTERNAL_ERROR", "errorCode": "state_run_start_conflict"},
            ),
            "state_run_start_conflict",
        ),
        (Answer(409, {"error": "no", "code": "state_already_running"}), "state_already_running"),
        (Answer(200, {"quota": "fine"}), "transport_error"),
    ],
)
def test_any_other_refusal_of_a_spawn_is_a_typed_error_and_the_childs_end(
    house: House, answer: Answer, code: str
) -> None:
    house.peer.says("start", answer)
    told = house.use("spawnAgent", agent="far", name="scout", initialMessage="go")
    assert (told["success"], told["code"]) == (False, code)
    assert (house.record().status, house.record().error_detail["code"]) == ("failed", code)


def test_a_refused_spawn_is_not_tried_again_by_a_repeat(house: House) -> None:
    house.peer.says("start", Answer(409, {"error": "no", "code": "ALREADY_COMPLETED"}), Answer())
    spawn = {"agent": "far", "name": "scout", "initialMessage": "go"}
    told = [house.use("spawnAgent", "call-0", **spawn) for _ in range(2)]
    assert [each["success"] for each in told] == [False, False]
    assert len(house.peer.heard("start")) == 1
    assert house.record().status == "failed"


def test_a_spawn_that_nobody_answers_says_so(house: House) -> None:
    house.peer.says("start", Answer(hangs_s=1.0))
    told = house.use("spawnAgent", agent="far", name="scout", initialMessage="go")
    assert told["result"] == {
        "spawned": False,
        "name": "scout",
        "reason": "child_start_unconfirmed",
    }
    assert house.record().status == "running", "it may run: its status is there to be asked"


def test_companions_are_listed_and_sub_agents_are_not(house: House) -> None:
    child_id = house.spawned(AGENT)
    house.db.execute(
        "insert into lockgate_store.children (session_id, child_session_id, run_id, tool_call_id,"
        " agent_type, mode, created_at) values ('parent', 'sub', %s, 'call-4', 'x', 'subagent',"
        " now())",
        house.scope.run_id,
    )
    assert house.use("listChildren", "call-3")["result"] == [
        {
            "name": "scout",
            "agent": AGENT,
            "mode": "background",
            "status": "running",
            "childSessionId": child_id,
        }
    ]


def test_a_status_is_asked_of_the_companion_itself(house: House) -> None:
    child_id = house.spawned(AGENT)
    assert house.use("getChildStatus", "call-3", name="scout")["result"] == {
        "name": "scout",
        "status": "running",
    }
    end(house.db.drive(house.current(child_id)), output="found")
    assert house.use("getChildStatus", "call-3", name="scout")["result"] == {
        "name": "scout",
        "status": "completed",
        "output": {"said": "found"},
    }


def test_what_a_remote_companion_came_to_is_recorded_when_it_is_learnt(house: House) -> None:
    house.spawned("far")
    house.peer.status("active", {"status": "failed", "errorDetail": {"message": "it broke"}})
    assert house.use("getChildStatus", "call-3", name="scout")["result"]["status"] == "running"
    assert house.record().status == "running"
    told = house.use("getChildStatus", "call-3", name="scout")["result"]

    assert told == {"name": "scout", "status": "failed", "error": "it broke"}
    assert (house.record().status, house.record().error_detail) == (
        "failed",
        {"message": "it broke"},
    )


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Answer(404, {"error": "no", "code": "NOT_FOUND"}), "NOT_FOUND"),
        (Answer(200, {"hello": 1}), "transport_error"),
        (Answer(200, b"hello"), "transport_error"),
        (Answer(hangs_s=1.0), "transport_error"),
    ],
)
def test_a_status_that_cannot_be_read_is_a_typed_error(
    house: House, answer: Answer, code: str
) -> None:
    house.spawned("far")
    house.peer.says("status", answer)
    told = house.use("getChildStatus", "call-3", name="scout")
    assert (told["success"], told["code"]) == (False, code)


def test_a_local_companion_is_terminated_by_an_abort_of_its_own(house: House) -> None:
    child_id = house.spawned(AGENT)
    child = house.db.drive(house.current(child_id))
    assert house.use("terminateChild", "call-3", name="scout")["result"] == {"terminated": True}
    assert house.db.run(child.run_id).stop_kind == "abort"
    child.finish("stopped")
    assert (house.record().status, house.record().error_detail["code"]) == (
        "failed",
        "framework_cancelled",
    )
    assert house.use("terminateChild", "call-3", name="scout")["result"] == {"terminated": False}
    assert house.db.run(house.scope.run_id).stop_kind is None, "the parent is not stopped with it"


def test_a_termination_that_is_asked_again_is_for_no_later_run(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The link asks again by itself; by then the run has ended, and another one executes."""
    child_id = house.spawned(AGENT)
    child = house.db.drive(house.current(child_id))
    later: list[Any] = []
    once = Database.call

    async def twice(self: Database, rule: Any, /, **given: Any) -> Any:
        answer: Any = await once(self, rule, **given)
        if rule.__name__ == "abort":
            child.finish("stopped")
            later.append(house.db.driven(child_id).run_id)
            answer = await once(self, rule, **given)
        return answer

    monkeypatch.setattr(Database, "call", twice)
    house.use("terminateChild", "call-3", name="scout")

    assert house.db.run(child.run_id).status == "failed"
    assert house.db.run(later[0]).stop_kind is None


def test_a_remote_companion_is_terminated_by_its_host(house: House) -> None:
    child_id = house.spawned("far")
    house.peer.says("abort", Answer(body={"status": "stopping"}))
    assert house.use("terminateChild", "call-3", name="scout")["result"] == {"terminated": True}
    (asked,) = house.peer.heard("abort")
    assert asked.path == f"/sessions/{child_id}/subagent/far/abort"
    house.peer.says("abort", Answer(body={"status": "not_running"}))
    assert house.use("terminateChild", "call-3", name="scout")["result"] == {"terminated": False}
