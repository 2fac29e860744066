"""Whatever an application's code raises: its worker lives, and no run stays behind."""

from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Any, NoReturn

import pytest

from lockgate import (
    Agent,
    AgentHooks,
    EntryRefused,
    Hooks,
    Runtime,
    define_agent,
)
from lockgate.models.protocol import ModelEvent, ModelRequest
from tests.support import crew_parts
from tests.support.proves import case
from tests.support.scene import Scene, call, said
from tests.support.seen import seen
from tests.support.stage import Stage
from tests.support.stage_agents import StagedModel, staged_tools


class Odd(BaseException):
    """What nobody expects."""


RAISED: dict[str, type[BaseException]] = {
    "odd": Odd,
    "exit": SystemExit,
    "key": KeyboardInterrupt,
}
# Where an attempt calls an application: each a session, and an agent type that raises there once.
PLACES = ("resolver", "store-factory", "prompt", "model", "store", "stop-when")
TURNS = ({"calls": [call("add", a=1, b=2)]}, {"say": "Three."})


class Rude:
    """An application whose code raises once in each place, and whose hooks raise each time."""

    def __init__(self, stage: Stage, kind: str) -> None:
        self.stage = stage
        self._raised = RAISED[kind]

    def comes_to(self, place: str, whose: str) -> None:
        if place == whose and self.stage.opens(place):
            raise self._raised("rude")

    def resolver(self, context: Any) -> Agent:
        whose = context.agent_type
        self.comes_to("resolver", whose)

        def prompt(state: Mapping[str, Any]) -> str:
            self.comes_to("prompt", whose)
            return "Be brief."

        def stop_when(context: Any) -> bool:
            self.comes_to("stop-when", whose)
            return False

        return define_agent(
            whose,
            model=RudeModel(self, whose),
            tools=staged_tools(self.stage),
            system_prompt=prompt,
            stop_when=stop_when,
            hooks=AgentHooks(on_agent_start=self.hook),
        )

    def store(self, context: Any) -> "RudeStore":
        self.comes_to("store-factory", context.session_id)
        return RudeStore(self, context.session_id)

    async def hook(self, *_: Any) -> NoReturn:
        raise self._raised("rude")

    def plain_hook(self, *_: Any) -> NoReturn:
        raise self._raised("rude")


class RudeModel(StagedModel):
    def __init__(self, rude: Rude, whose: str) -> None:
        super().__init__(rude.stage)
        self._comes_to = partial(rude.comes_to, "model", whose)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self._comes_to()
        async for event in super().stream(request):
            yield event


class RudeStore:
    def __init__(self, rude: Rude, whose: str) -> None:
        self._comes_to = partial(rude.comes_to, "store", whose)

    async def record(self, entries: Sequence[Mapping[str, Any]]) -> None:
        if entries[0]["kind"] == "tool":
            self._comes_to()

    async def rollup(self) -> Mapping[str, Any]:
        return {}


def play_rudely(kind: str) -> None:
    """Have a worker serve the rude application instead of the staged one."""

    def made(stage: Stage, **_: Any) -> Runtime:
        rude = Rude(stage, kind)
        hooks = Hooks(after_entry=rude.plain_hook, on_run_settled=rude.hook)
        return Runtime(rude.resolver, hooks=hooks, usage_store=rude.store)

    crew_parts.staged_runtime = made  # type: ignore[attr-defined]


@case(20)
@pytest.mark.parametrize("kind", RAISED)
def test_what_would_end_the_program_is_a_failure_of_one_attempt(scene: Scene, kind: str) -> None:
    worker = scene.crew.worker(prepare=partial(play_rudely, kind))
    worker.ready()
    runs = {place: scene.door.start(place, said(*TURNS), agent_type=place) for place in PLACES}
    scene.wake()
    rows = {place: scene.settled(run.run_id) for place, run in runs.items()}

    assert {place: row.output for place, row in rows.items()} == dict.fromkeys(PLACES, "Three.")
    assert [place for place in PLACES if not scene.stage.is_open(place)] == []
    told = "select last_error from lockgate_store.deliveries where delivered_at is not null"
    seen(lambda: len(scene.door.rows(told)) == len(PLACES), "each is marked as told")
    assert not worker.has_ended


@pytest.mark.parametrize("kind", RAISED)
@pytest.mark.parametrize("place", ["resolver", "store-factory", "before_entry"])
def test_what_would_end_the_program_refuses_one_entry(scene: Scene, place: str, kind: str) -> None:
    rude = Rude(scene.stage, kind)
    hooks = Hooks(before_entry=rude.hook if place == "before_entry" else None)
    front = Runtime(rude.resolver, hooks=hooks, usage_store=rude.store)
    scene.run(front.open(scene.url))
    with pytest.raises(EntryRefused) as refused:
        scene.run(front.start(place, place, "Hello."))
    scene.run(front.close())

    assert refused.value.retryable
    assert type(refused.value.__cause__) is RuntimeError
