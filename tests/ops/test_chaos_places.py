"""The places and the line of a chaos: what breaks is broken as it says, and seen."""

import asyncio
import contextlib
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from lockgate_ops.chaos.places import History, Place, Role
from lockgate_ops.chaos.proxy import Line
from lockgate_ops.children import Child, Children
from tests.ops.processes import wait_until

BOUND_S = 20.0


class Sleepers(Children):
    """Starts processes that are ready at once, and sleep."""

    def __init__(self) -> None:
        super().__init__()
        self.started: list[Any] = []

    def start(self, words: list[str], log: Path | None = None, /, **settings: str) -> Child:
        words = [sys.executable, "-c", "import time; time.sleep(60)"]
        process = subprocess.Popen(words, text=True)
        child = Child.__new__(Child)
        child.process = process
        child.ready = lambda: f"place {process.pid}"  # type: ignore[method-assign]
        self.started.append(process)
        return child


@asynccontextmanager
async def kept(role: Role) -> AsyncIterator[tuple[Place, History, Sleepers]]:
    """Keep a place with a sleeper, and end whoever sleeps there at last."""
    sleepers, history, over = Sleepers(), History(), asyncio.Event()
    place = Place(sleepers, role, Path("/dev/null"), history)
    keeping = asyncio.create_task(place.keep(over))
    try:
        async with asyncio.timeout(BOUND_S):
            while not place.is_up:
                await asyncio.sleep(0.01)
            yield place, history, sleepers
    finally:
        over.set()
        await keeping
        for process in sleepers.started:
            process.kill()
            process.wait()


async def succeeded(place: Place, said: str) -> None:
    """Wait until another process is there."""
    while place.said == said or not place.is_up:
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("act", [Place.kill, Place.redeploy])
def test_a_process_that_is_told_to_end_has_a_successor_and_is_no_oddity(act: Any) -> None:
    async def scenario() -> None:
        async with kept("server") as (place, history, _):
            was, before = place.said, asyncio.get_running_loop().time()
            act(place)
            assert place.was_disturbed(since=before)
            await succeeded(place, was)
            after = asyncio.get_running_loop().time()
            assert place.was_disturbed(since=before)
            assert not place.was_disturbed(since=after)
            assert (history.odd_ends, history.by_own, history.started) == ([], 0, 2)

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("role", "number", "is_odd"),
    [
        ("server", signal.SIGKILL, True),
        ("worker", signal.SIGTERM, True),
        ("worker", signal.SIGKILL, False),  # as a poisonous tool does
    ],
)
def test_a_process_that_ends_by_itself_is_told_of(
    role: Role, number: signal.Signals, is_odd: bool
) -> None:
    async def scenario() -> None:
        async with kept(role) as (place, history, sleepers):
            was = place.said
            sleepers.started[0].send_signal(number)
            await succeeded(place, was)
            assert (len(history.odd_ends), history.by_own) == ((1, 0) if is_odd else (0, 1))

    asyncio.run(scenario())


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads Linux's /proc")
def test_a_frozen_process_stands_still_and_goes_on() -> None:
    async def scenario() -> None:
        async with kept("worker") as (place, history, sleepers):
            stat = Path(f"/proc/{sleepers.started[0].pid}/stat")

            def state() -> str:
                return stat.read_text().rpartition(")")[2].split()[0]

            with place.frozen():
                wait_until(lambda: state() == "T", "it stands still")
                assert place.is_frozen
            wait_until(lambda: state() != "T", "it goes on")
            (frozen,) = history.frozen
            assert frozen.pid == sleepers.started[0].pid
            assert frozen.since < frozen.until < float("inf")
            assert history.odd_ends == []

    asyncio.run(scenario())


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(100):
            writer.write(data)
    writer.close()


@asynccontextmanager
async def called() -> AsyncIterator[tuple[Line, asyncio.StreamReader, asyncio.StreamWriter]]:
    """Open a line to something that says whatever it hears, and call it."""
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    line = Line(f"postgresql://me:secret@127.0.0.1:{port}/app")
    async with asyncio.timeout(BOUND_S), line.open():
        there = line.url.rpartition(":")[2].partition("/")[0]
        reader, writer = await asyncio.open_connection("127.0.0.1", int(there))
        writer.write(b"a")
        assert await reader.read(1) == b"a"
        yield line, reader, writer
        writer.close()
    server.close()


async def heard(reader: asyncio.StreamReader) -> bytes:
    """Return what comes next: nothing where the link is cut."""
    try:
        return await reader.read(1)
    except ConnectionError:
        return b""


def test_a_line_leads_there_with_the_same_credentials() -> None:
    async def scenario() -> None:
        async with called() as (line, _, _):
            assert line.url.startswith("postgresql://me:secret@127.0.0.1:")
            assert line.url.endswith("/app")

    asyncio.run(scenario())


def test_a_cut_ends_every_link() -> None:
    async def scenario() -> None:
        async with called() as (line, reader, _):
            await line.cut()
            assert await heard(reader) == b""

    asyncio.run(scenario())


def test_a_slow_line_loses_nothing() -> None:
    async def scenario() -> None:
        async with called() as (line, reader, writer):
            slow = asyncio.create_task(line.delay(0.05, for_s=0.2))
            await asyncio.sleep(0)
            writer.write(b"b")
            assert await reader.read(1) == b"b"
            await slow

    asyncio.run(scenario())


def test_a_line_that_swallows_passes_nothing_on_and_then_cuts_who_has_lost_something() -> None:
    async def scenario() -> None:
        async with called() as (line, reader, writer):
            swallowing = asyncio.create_task(line.swallow(for_s=2.0))
            await asyncio.sleep(0)
            writer.write(b"c")
            assert await heard(reader) == b""
            await swallowing

    asyncio.run(scenario())
