"""The flows of parents: sub-agents, companions, and a child on another host."""

from typing import Any

from tests.support.flow_client import IDLE, Client, Waits
from tests.support.flows import ADD, DONE
from tests.support.scene import call, script


def helps(*turns: Any) -> dict[str, Any]:
    return call("subagent__helper", message=script(*turns))


def brings(found: Any) -> dict[str, Any]:
    return {"output": {"found": found}}


def sub_agent(client: Client) -> Waits:
    """A child with a tool of its own, and a tool beside it."""
    client.start({"calls": [helps(ADD, brings(1)), ADD["calls"][0]]}, DONE, agent_type="parent")
    yield from client.ended()


def sub_agent_that_is_awaited(client: Client) -> Waits:
    """The child goes on only when its parent waits for it, whatever was lost before."""
    held = {"calls": [call("hold", gate=client.gate())]}
    client.start({"calls": [helps(held, brings(1)), ADD["calls"][0]]}, DONE, agent_type="parent")
    while client.session.status != "paused":
        yield
    client.scene.stage.open(client.gate())
    yield from client.ended()


def child_that_is_asked(client: Client) -> Waits:
    """The child waits for a client, who answers through the root session."""
    child = helps({"calls": [call("pick")]}, brings("picked"))
    client.start({"calls": [child]}, DONE, agent_type="parent")
    yield from client.is_asked()
    client.answers(client.asked())
    yield from client.ended()


def companion_that_blocks(client: Client) -> Waits:
    """A spawn is answered by the companion's first run, a message and a wait by its second."""
    spawn = {"agent": "digger", "name": "d", "initialMessage": script({"say": "gold"})}
    send = {"name": "d", "message": script({"say": f"@hold:{client.gate()} silver"})}
    client.start(
        {"calls": [{**call("companion__spawnAgent", **spawn), "id": "spawn"}]},
        {"calls": [{**call("companion__sendMessage", **send), "id": "send"}]},
        {"calls": [{**call("companion__waitForResult", name="d"), "id": "wait"}]},
        DONE,
        agent_type="keeper",
    )
    while not any(each.waiting_call_ids for each in client.children()):
        yield
    client.scene.stage.open(client.gate())
    yield from client.ended()


def companion_in_the_background(client: Client) -> Waits:
    """The parent ends first: its companion waits at a gate until then."""
    dug = script({"say": f"@hold:{client.gate()} deep"}, brings("late"))
    spawn = {"agent": "helper", "name": "h", "initialMessage": dug}
    client.start({"calls": [call("companion__spawnAgent", **spawn)]}, DONE, agent_type="parent")
    yield from client.ended()
    client.scene.stage.open(client.gate())
    (child,) = client.children()
    while client.scene.door.session(child.child_session_id).status not in IDLE:
        yield


def remote_child(client: Client) -> Waits:
    calls = [call("subagent__far", message="go far"), call("add", a=1, b=2)]
    client.start({"calls": calls}, DONE, agent_type="parent")
    yield from client.ended()
