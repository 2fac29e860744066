"""An agent whose sub-agent has no output schema: reference/http.md 12.3, E19."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from pydantic import BaseModel

from lockgate import Agent, PersistentAgent, RemoteChildren, define_agent, sub_agent
from lockgate.models.scripted import ScriptedModel
from tests.api.conftest import MakeApi
from tests.api.rig import agent, error
from tests.support.door import AGENT, Door
from tests.support.rows import row


class Found(BaseModel):
    """What a child brings."""

    found: str


FINDER = define_agent("finder", model=ScriptedModel(), output_schema=Found)
BARE = agent("bare")

FLAWED: Mapping[str, tuple[Any, list[Agent]]] = MappingProxyType(
    {
        "given": (sub_agent(BARE), [BARE]),
        "by type": (sub_agent("bare"), [BARE]),
        "nobody's": (sub_agent("nobody"), []),
        "far": (sub_agent("far", host=RemoteChildren("http://127.0.0.1:9")), []),
    }
)
SOUND: Mapping[str, tuple[Any, list[Agent]]] = MappingProxyType(
    {
        "given": (sub_agent(FINDER), [FINDER]),
        "by type": (sub_agent("finder"), [FINDER]),
        "promised": (sub_agent("made-later", output_schema=Found), []),
        "far": (
            sub_agent("far", output_schema=Found, host=RemoteChildren("http://127.0.0.1:9")),
            [],
        ),
    }
)


def parent(tool: Any) -> Agent:
    return define_agent(AGENT, model=ScriptedModel(), tools=[tool])


@row("E19")
@pytest.mark.parametrize("how", FLAWED)
def test_a_sub_agent_without_an_output_schema_is_400(make_api: MakeApi, db: Door, how: str) -> None:
    tool, others = FLAWED[how]
    api = make_api(agents=[parent(tool), *others])
    with db.nothing_written():
        answer = api.start()
    assert error(answer) == (400, "validation_error", False)
    assert answer.json()["field"] == "tools"


@pytest.mark.parametrize("how", SOUND)
def test_one_whose_output_is_known_takes_entries(make_api: MakeApi, how: str) -> None:
    tool, others = SOUND[how]
    assert make_api(agents=[parent(tool), *others]).start().status_code == 200


def test_a_companion_needs_no_output_schema(make_api: MakeApi) -> None:
    own = define_agent(AGENT, model=ScriptedModel(), persistent_agents=[PersistentAgent(BARE)])
    assert make_api(agents=[own, BARE]).start().status_code == 200
