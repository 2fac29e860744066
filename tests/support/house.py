"""A parent's tools for its companions, used one by one: no worker drives anything here."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from lockgate import PersistentAgent, define_agent
from lockgate.companions import Companions
from lockgate.models.scripted import ScriptedModel
from lockgate.remote import RemoteChildren
from lockgate.rules import steps
from lockgate.scope import Scope, Surroundings
from lockgate.strict_json import dumps
from lockgate.tools import run_tool
from tests.support.door import AGENT, Door, tool
from tests.support.family import records
from tests.support.peer import Peer
from tests.support.scene import Scene

IDENTITY: dict[str, Any] = {"user_id": "ann", "tags": ["vip"], "metadata": {"plan": "gold"}}


@dataclass
class House:
    """A parent in the middle of a step with open calls, and its tools for its companions."""

    scene: Scene
    peer: Peer
    scope: Scope
    companions: Companions
    calls: list[str]

    @property
    def db(self) -> Door:
        return self.scene.door

    def use(self, verb: str, call_id: str | None = None, **arguments: Any) -> dict[str, Any]:
        """Run a tool's body for the next call, or once more for another one."""
        call_id = call_id or self.calls.pop(0)
        (made,) = (each for each in self.companions.tools() if each.name == f"companion__{verb}")
        context: Any = SimpleNamespace(
            tool_call_id=call_id, dedupe_id=f"{self.scope.run_id}:1:{call_id.removeprefix('call-')}"
        )
        read = made.arguments.read(arguments)
        return self.scene.run(run_tool(made, read, context))

    def spawned(self, agent: str, name: str = "scout") -> str:
        answer = self.use("spawnAgent", agent=agent, name=name, initialMessage="go")
        assert answer["result"]["spawned"] is True, answer
        return str(answer["result"]["childSessionId"])

    def send(self, call_id: str | None = None) -> dict[str, Any]:
        return self.use("sendMessage", call_id, name="scout", message="and now?")

    def record(self) -> Any:
        (record,) = records(self.db)
        return record

    def current(self, session_id: str) -> UUID:
        run_id: UUID = self.db.session(session_id).current_run_id
        return run_id


def house_of(scene: Scene, peer: Peer) -> House:
    """Make a house: a claimed parent whose reply has five calls, and two kinds of companions."""
    scene.door.beat()
    run_id = scene.door.start("parent", **IDENTITY).run_id
    database = scene.own.database
    near = define_agent(AGENT, model=ScriptedModel())
    far = RemoteChildren(peer.url, headers={"x-from": "parent"}, timeout_s=0.5)

    async def made() -> tuple[Scope, list[str]]:
        address: dict[str, Any] = {"session_id": "parent", "run_id": run_id}
        claim = await database.call_once(
            steps.claim_run,
            drive_id=scene.door.run(run_id).drive_id,
            worker_id="worker-1",
            **address,
        )
        around = Surroundings(
            host=scene.own.host,
            database=database,
            may_begin=always,
            lapses=lambda: 0,
            tell=lambda *_: None,
            hurry=lambda: None,
            background=set(),
        )
        scope = Scope(around, "", "parent", run_id, claim, 0, lambda: None)
        calls = [tool(f"call-{n}", "companion__sendMessage") for n in range(5)]
        await scope.commit(steps.commit_reply, step=1, content="[]", calls=dumps(calls))
        return scope, [call["id"] for call in calls]

    scope, calls = scene.run(made())
    agents = (PersistentAgent(near), PersistentAgent("far", host=far))
    return House(scene, peer, scope, Companions(scope, agents), calls)


async def always() -> None:
    pass
