"""The storm of a chaos: each kind comes before the second of any, and the last worker is spared."""

import asyncio
import random
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from lockgate_ops.chaos.forecast import Forecast
from lockgate_ops.chaos.places import History
from lockgate_ops.chaos.troubles import DECK, Troubles

SEEDS = range(20)


def troubles(*places: Any, workers: int = 2) -> Troubles:
    nothing: Any = None
    forecast = Forecast(1, 1, workers=workers)
    return Troubles(forecast, nothing, nothing, [*places], asyncio.Event(), History())


def place(role: str, *, is_up: bool = True) -> Any:
    return SimpleNamespace(role=role, is_up=is_up, is_frozen=False, said=Path(role))


def test_each_kind_comes_before_the_second_of_any() -> None:
    for seed in SEEDS:
        dealt = [*islice(troubles()._dealt(random.Random(seed)), sum(DECK.values()))]
        assert set(dealt[: len(DECK)]) == set(DECK)
        assert {kind: dealt.count(kind) for kind in DECK} == DECK


def test_the_same_seed_deals_the_same_storm() -> None:
    first, again = (troubles()._dealt(random.Random(7)) for _ in range(2))

    assert [*islice(first, 50)] == [*islice(again, 50)]


def test_the_last_worker_is_spared_unless_there_is_but_one() -> None:
    server, one, other = place("server"), place("worker"), place("worker")

    async def chosen(made: Troubles, role: str | None) -> list[Any]:
        async with asyncio.timeout(20):
            return [await made._place(role, random.Random(seed)) for seed in SEEDS]

    async def scenario() -> None:
        assert set(map(id, await chosen(troubles(server, one, other), "worker"))) == {
            id(one),
            id(other),
        }
        alone = troubles(server, one, place("worker", is_up=False))
        assert {each.role for each in await chosen(alone, None)} == {"server"}
        assert await chosen(troubles(server, one, workers=1), "worker") == [one] * len(SEEDS)

    asyncio.run(scenario())


def test_whoever_waits_for_a_worker_gives_up_when_the_storm_is_over() -> None:
    async def scenario() -> None:
        made = troubles(place("worker"))
        waiting = asyncio.create_task(made._place("worker", random.Random(1)))
        await asyncio.sleep(0)
        made.over.set()
        assert await waiting is None

    asyncio.run(scenario())
