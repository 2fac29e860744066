"""Usage stores of an application's: strict, and made for a drive or to read."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from lockgate import (
    Agent,
    AgentRegistry,
    DriveFactoryContext,
    EntryRefused,
    Identity,
    LookupFactoryContext,
    UsageReadContext,
    classify_entry_failure,
    define_agent,
)
from lockgate.host import Host
from lockgate.materialize import materialize, needs_no_factory
from lockgate.models.offline import OfflineModel
from lockgate.usage import StrictStore, store_from

IDENTITY = Identity(user_id="ann")
DRIVE = DriveFactoryContext("env", "s1", "r1", "start", IDENTITY, "support")
LOOKUP = LookupFactoryContext("env", "s1", IDENTITY, "support")
READ = UsageReadContext("env", "s1", IDENTITY)
ENTRY = {"id": "r1:1:0", "kind": "tokens", "source": "agent", "tokens": {"total": 7}}


class Kept:
    """A store that keeps what it is told, or fails."""

    def __init__(self, raises: Exception | None = None) -> None:
        self.raises = raises
        self.entries: list[Mapping[str, Any]] = []

    async def record(self, entries: Sequence[Mapping[str, Any]]) -> None:
        if self.raises is not None:
            raise self.raises
        self.entries += entries

    async def rollup(self) -> Mapping[str, Any]:
        if self.raises is not None:
            raise self.raises
        return {"tokens": {"total": 7 * len(self.entries)}}


def support() -> Agent:
    return define_agent("support", model=OfflineModel())


def host(**more: Any) -> Host:
    return Host(agents=AgentRegistry([support()]), **more)


def test_a_store_is_passed_on_as_it_is() -> None:
    kept = Kept()

    async def make(context: Any) -> Kept:
        return kept

    async def use() -> Mapping[str, Any]:
        ready = await materialize(host(usage_store=make), DRIVE)
        assert ready.usage_store is not None
        await ready.usage_store.record([ENTRY])
        return await ready.usage_store.rollup()

    assert asyncio.run(use()) == {"tokens": {"total": 7}}
    assert kept.entries == [ENTRY]


def test_without_one_the_rows_are_the_store() -> None:
    assert asyncio.run(store_from(None, READ)) is None
    assert asyncio.run(materialize(host(), DRIVE)).usage_store is None
    assert needs_no_factory(host(), "support")
    assert not needs_no_factory(host(usage_store=lambda context: Kept()), "support")


def test_a_look_up_has_no_run_to_tell_the_factory_of() -> None:
    told: list[Any] = []

    def make(context: Any) -> Kept:
        told.append(context)
        return Kept()

    for context in (DRIVE, LOOKUP):
        asyncio.run(materialize(host(usage_store=make), context))
    assert told == [DRIVE, READ]


@pytest.mark.parametrize("raised", [RuntimeError("billing"), EntryRefused("validation_error")])
@pytest.mark.parametrize("verb", ["make", "record", "rollup"])
def test_each_failure_is_typed_and_transient(raised: Exception, verb: str) -> None:
    def fails(context: Any) -> Kept:
        raise raised

    store = StrictStore(Kept(raised))
    works = {
        "make": lambda: materialize(host(usage_store=fails), DRIVE),
        "record": lambda: store.record([ENTRY]),
        "rollup": store.rollup,
    }
    with pytest.raises(EntryRefused) as refused:
        asyncio.run(works[verb]())
    assert refused.value.code == "framework_usage_store_unavailable"
    assert (refused.value.retryable, refused.value.cause) == (True, raised)
    assert classify_entry_failure(refused.value) == "transient"
