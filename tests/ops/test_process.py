"""A process leaves when it is told to, whatever its threads and its work still wait for."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from lockgate_ops.children import READY_S, Children
from lockgate_ops.refusals import Refused
from tests.ops.databases import BareDatabase
from tests.support.seen import seen

BOUND_S = 2.0 + 0.2  # the grace, and the drain of these processes
LATE_S = 2.0  # what a busy machine may add

# `main` is told to leave and does as its test says; the process ends by what process.py gives it.
PROCESS = """
import asyncio, os, sys, time
from lockgate_ops.exits import announce, leave
from lockgate_ops.process import run

async def orderly(leaving):
    announce("ready")
    await leaving.wait()

async def blocked_thread(leaving):
    asyncio.get_running_loop().run_in_executor(None, time.sleep, 600)
    await orderly(leaving)

async def endless(leaving):
    await orderly(leaving)
    await asyncio.sleep(600)

async def sleeping_loop(leaving):
    announce("ready")
    time.sleep(600)

async def busy_loop(leaving):
    announce("ready")
    while True:
        sum(range(1000))

async def deaf(leaving):
    os.close(2)
    await endless(leaving)

leave(run(globals()[sys.argv[1]], drain_s=float(sys.argv[2])))
"""


BLOCKED = ["sleeping_loop", "busy_loop"]


@contextmanager
def ready(main: str, drain_s: float = 0.2) -> Iterator["subprocess.Popen[str]"]:
    """Start a process, and yield it once it listens; nobody outlives the block."""
    with subprocess.Popen(
        [sys.executable, "-c", PROCESS, main, str(drain_s)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("main", "code"),
    [("orderly", 0), ("blocked_thread", 0), *[(main, 1) for main in ("endless", *BLOCKED)]],
)
def test_a_process_leaves_within_its_bound(main: str, code: int) -> None:
    with ready(main) as process:
        assert process.stderr is not None
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == code
        assert time.monotonic() - began < (BOUND_S if code else 0) + LATE_S
        assert ("did not end within the drain time" in process.stderr.read()) == bool(code)


def test_a_process_that_can_tell_nobody_leaves_all_the_same() -> None:
    with ready("deaf") as process:
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 1


@pytest.mark.parametrize("main", BLOCKED)
def test_a_second_signal_ends_a_process_whose_loop_is_blocked(main: str) -> None:
    with ready(main, drain_s=600) as process:

        def told_again() -> bool:  # Two that come before the first is heard are one.
            process.send_signal(signal.SIGTERM)
            return process.poll() is not None

        seen(told_again, "it has left")
        assert process.returncode == 128 + signal.SIGTERM


def test_a_child_that_ends_before_it_is_ready_is_not_waited_for(
    children: Children, bare: BareDatabase
) -> None:
    began = time.monotonic()
    with pytest.raises(Refused, match=r"work did not become ready: .* is not installed"):
        children.start(["work"], database_url=bare.owner_url).ready()
    assert time.monotonic() - began < READY_S / 2
