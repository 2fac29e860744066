"""A process leaves when it is told to, whatever its threads and its work still wait for."""

import signal
import subprocess
import sys
import time

import pytest

from lockgate_ops.children import READY_S, Children
from lockgate_ops.refusals import Refused
from tests.ops.databases import BareDatabase

BOUND_S = 2.0 + 0.2  # the grace, and the drain of these processes
LATE_S = 2.0  # what a busy machine may add

# `main` is told to leave and does as its test says; the process ends by what process.py gives it.
PROCESS = """
import asyncio, sys, time
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

leave(run(globals()[sys.argv[1]], drain_s=0.2))
"""


@pytest.mark.parametrize(("main", "code"), [("orderly", 0), ("blocked_thread", 0), ("endless", 1)])
def test_a_process_leaves_within_its_bound(main: str, code: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROCESS, main],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "ready\n"
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == code
        assert time.monotonic() - began < (BOUND_S if code else 0) + LATE_S
        assert ("did not end within the drain time" in process.stderr.read()) == bool(code)


def test_a_child_that_ends_before_it_is_ready_is_not_waited_for(
    children: Children, bare: BareDatabase
) -> None:
    began = time.monotonic()
    with pytest.raises(Refused, match=r"work did not become ready: .* is not installed"):
        children.start(["work"], database_url=bare.owner_url).ready()
    assert time.monotonic() - began < READY_S / 2
