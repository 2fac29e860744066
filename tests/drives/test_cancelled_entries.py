"""Entries whose caller wants them no more: before the commit they leave nothing behind."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest

from lockgate import BeforeEntryContext, EntryRefused, Hooks, RunHandle, Runtime
from tests.support.scene import Scene
from tests.support.stage_agents import SCRIPTED

Verb = Callable[[Runtime, asyncio.Event], Coroutine[Any, Any, RunHandle]]


def start(runtime: Runtime, cancelled: asyncio.Event) -> Coroutine[Any, Any, RunHandle]:
    return runtime.start("s1", SCRIPTED, "hi", request_key="k1", cancelled=cancelled)


def resume(runtime: Runtime, cancelled: asyncio.Event) -> Coroutine[Any, Any, RunHandle]:
    return runtime.resume("s1", SCRIPTED, request_key="k1", cancelled=cancelled)


def retry(runtime: Runtime, cancelled: asyncio.Event) -> Coroutine[Any, Any, RunHandle]:
    return runtime.retry("s1", SCRIPTED, request_key="k1", cancelled=cancelled)


def refused(scene: Scene, runtime: Runtime, verb: Verb, cancelled: asyncio.Event) -> None:
    with pytest.raises(EntryRefused) as error:
        scene.run(verb(runtime, cancelled))
    assert (error.value.code, error.value.retryable) == ("framework_cancelled", False)


def already() -> asyncio.Event:
    cancelled = asyncio.Event()
    cancelled.set()
    return cancelled


def admitting(scene: Scene, before: Callable[[], None]) -> Runtime:
    """Open a runtime whose before_entry does something and admits."""

    async def before_entry(context: BeforeEntryContext) -> None:
        before()

    runtime = scene.runtime()
    runtime.host = replace(runtime.host, hooks=Hooks(before_entry=before_entry))
    return runtime


@pytest.mark.parametrize("verb", [start, resume, retry])
def test_one_that_is_cancelled_already_writes_nothing(scene: Scene, verb: Verb) -> None:
    asked: list[int] = []
    for runtime in (scene.own, admitting(scene, lambda: asked.append(1))):
        with scene.door.nothing_written():
            refused(scene, runtime, verb, already())
    assert asked == []


@pytest.mark.parametrize("verb", [resume, retry])
def test_a_session_with_a_run_is_left_as_it_is(scene: Scene, verb: Verb) -> None:
    drive = scene.door.driven("s1", agent_type=SCRIPTED)
    drive.finish("failed", error_detail={"message": "m"})
    with scene.door.nothing_written():
        refused(scene, scene.own, verb, already())
    assert scene.run(retry(scene.own, asyncio.Event())).attached is False, "its key is free"


def test_one_that_is_cancelled_in_the_hook_writes_nothing(scene: Scene) -> None:
    cancelled = asyncio.Event()
    runtime = admitting(scene, cancelled.set)
    with scene.door.nothing_written():
        refused(scene, runtime, start, cancelled)
    assert scene.run(start(scene.own, asyncio.Event())).attached is False


def test_the_first_entry_of_a_session_is_recorded_on_it(scene: Scene) -> None:
    scene.door.create_session("s1", agent_type=SCRIPTED)
    refused(scene, scene.own, start, already())
    session = scene.door.session("s1")
    assert (session.status, session.error_detail["code"]) == ("failed", "framework_cancelled")
    assert scene.door.rows("select from lockgate_store.runs") == []
    assert scene.run(start(scene.own, asyncio.Event())).attached is False


def test_one_that_waits_for_the_run_it_stopped_is_let_go(scene: Scene) -> None:
    """The stop that it has recorded stands: it is committed."""
    drive = scene.door.driven("s1", agent_type=SCRIPTED)
    scene.door.beat()
    cancelled = asyncio.Event()
    runtime = scene.runtime(concurrent_entry="interrupt_previous")

    async def cancel_while_it_waits() -> str:
        entry = asyncio.create_task(start(runtime, cancelled))
        while scene.door.run(drive.run_id).stop_kind is None:
            await asyncio.sleep(0.01)
        cancelled.set()
        with pytest.raises(EntryRefused) as error:
            await entry
        return str(error.value.code)

    assert scene.run(cancel_while_it_waits()) == "framework_cancelled"
    assert [run.turn for run in scene.door.rows("select turn from lockgate_store.runs")] == [1]
    drive.finish("stopped")
