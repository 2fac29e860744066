"""Staged agents that have children: here, and at a peer whose address lies on the stage."""

from typing import Any

from pydantic import BaseModel

import lockgate.remote_children
from lockgate import Agent, PersistentAgent, RemoteChildren, define_agent, sub_agent
from tests.support.stage import Stage
from tests.support.stage_hooks import noting_hooks

NOBODY = "http://127.0.0.1:9"


class Found(BaseModel):
    """What a helper brings."""

    found: Any


def ask_often() -> None:
    """Make a process ask a remote child twenty times a second how it stands."""
    lockgate.remote_children.STATUS_EVERY_S = 0.05


def family_agents(stage: Stage, given: dict[str, Any]) -> list[Agent]:
    """Define the agents.

    helper    plays scripts, and brings something Found
    parent    calls helper and the peer's `far` as tools, has helper and `far` as companions, and
              `digger`, for whose first result it waits
    keeper    has the companions of parent that are here
    childish  calls an agent that has no output schema
    """
    address = stage.folder / "peer"
    url = address.read_text() if address.exists() else NOBODY
    far = RemoteChildren(url, timeout_s=2.0)
    finder = define_agent("helper", output_schema=Found, **given)
    digger = define_agent("digger", hooks=noting_hooks(stage, "digger"), **given)
    tools = [
        *given["tools"],
        sub_agent(finder),
        sub_agent("far", output_schema={"type": "object"}, host=far),
    ]
    companions = [
        PersistentAgent(finder),
        PersistentAgent(digger, mode="blocking"),
        PersistentAgent("far", mode="blocking", host=far),
    ]
    mine: dict[str, Any] = {"hooks": noting_hooks(stage, "parent"), "model": given["model"]}
    return [
        finder,
        digger,
        define_agent("parent", tools=tools, persistent_agents=companions, **mine),
        define_agent("keeper", tools=given["tools"], persistent_agents=companions[:2], **mine),
        define_agent("childish", tools=[sub_agent("scripted")], model=given["model"]),
    ]
