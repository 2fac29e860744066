"""The tour goes through, says what it saw, and leaves nothing behind however it ends."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from lockgate_ops.settings import child_environment
from tests.ops.processes import COMMAND, children_of, processes_with, wait_until

BOUND_S = 60.0
TOLD = (
    "status started",
    "status attached",
    "409",
    "state_request_key_conflict",
    "kill -9",
    "has taken the run over",
    "were committed before the kill and not done again",
    'tool_approval_request pay {"to": "Ada", "amount": 40}',
    "status paused",
    '"status":"accepted"',
    "output 'It is paid.'",
    '"status":"already_completed"',
    "tour-1      1     assistant   completed  order-4711",
    "tour-2      1     scripted    completed  job-1",
    "tour-3      1     scripted    superseded invoice-7",
    "tour-3      2     scripted    completed",
    "nothing is left running",
)

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads Linux's /proc")


@contextmanager
def _touring() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a tour in a session of its own; yields it, and a word that all its children bear."""
    mark = f"tour-{uuid4().hex}"
    with subprocess.Popen(
        [*COMMAND, "demo"],
        env=child_environment() | {"MARK": mark},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as tour:
        try:
            yield tour, mark
        finally:
            tour.kill()


def _folder(tour: subprocess.Popen[str]) -> Path:
    """Return the tour's data folder, which its sentinel's arguments name."""
    return Path(_shells(tour)[0][4])


def _shells(tour: subprocess.Popen[str]) -> list[list[str]]:
    return [words for words in children_of(tour.pid) if words and words[0] == "/bin/sh"]


def _nothing_left(mark: str, data: Path) -> bool:
    left = processes_with(mark) + processes_with(str(data))
    return not left and not data.parent.exists()


def test_the_tour_goes_through_within_its_bound() -> None:
    began = time.monotonic()
    with _touring() as (tour, mark):
        assert tour.stdout is not None
        lines = [tour.stdout.readline()]
        wait_until(lambda: _shells(tour), "the private server's sentinel")
        data = _folder(tour)
        lines.extend(tour.stdout)
        assert tour.wait() == 0, "".join(lines)
    told = " ".join("".join(lines).split())
    for words in TOLD:
        assert " ".join(words.split()) in told
    assert time.monotonic() - began < BOUND_S
    assert _nothing_left(mark, data)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_tour_that_is_cut_short_leaves_nothing_either(number: signal.Signals) -> None:
    with _touring() as (tour, mark):
        assert tour.stdout is not None
        for line in tour.stdout:
            if "lockgate work twice" in line:
                break
        wait_until(lambda: len(children_of(tour.pid)) == 4, "a sentinel and three children")
        data = _folder(tour)
        os.kill(tour.pid, number)
        rest = tour.stdout.read()
        assert tour.wait(30) == (-9 if number is signal.SIGKILL else 130)
        assert ("nothing is left running" in rest) == (number is not signal.SIGKILL)
    wait_until(lambda: _nothing_left(mark, data), "nothing is left")
