"""The README's code runs: each block, in order, against servers of the test's own."""

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from lockgate_ops.binaries import find_bindir
from lockgate_ops.settings import child_environment
from tests.support.cluster import Database

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text()
PORT = "8321"  # as it is written; the test takes a free one
BOUND_S = 100.0  # seven programs one after the other; below what a test may take
MOST_PYTHON_LINES = {"support": 40, "refund-desk": 60}  # of the example that defines this agent
_BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<why>[^\n]+) -->\n)?```(?P<language>\w+)\n(?P<code>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Block:
    """One code block; `why` says why it is not run."""

    language: str
    code: str
    why: str | None


BLOCKS = [
    Block(found["language"], found["code"], found["why"]) for found in _BLOCK.finditer(README)
]


@pytest.fixture
def room() -> Iterator[Path]:
    """A folder that the private server's account can enter, which pytest's own is not."""
    folder = Path(tempfile.mkdtemp(prefix="lockgate-test-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_every_block_runs_or_says_why_not() -> None:
    assert README.count("\n```") == 2 * len(BLOCKS)
    assert {block.language for block in BLOCKS} == {"sh", "python", "text"}
    assert [block.why for block in BLOCKS if block.why] == [
        "the tour is a test of its own, and a test does not start all tests",
        "the URL is your own",
    ]


def test_the_blocks_run_in_order(
    clean_database: Database, room: Path, pytestconfig: pytest.Config
) -> None:
    said = _run(_script(clean_database.url, room), room, pytestconfig)
    for words in (
        '"status":"started"',
        '"status":"attached"',
        "event: end",
        'data: {"status":"paused"}',
        '"status":"accepted","toolCallId":"colour"',
        '"delta": "Thank "',
        '"status":"stopped"',
        '"toolStats":',
        '"streamSequence":',
        "installed: Lockgate",
        "start one: lockgate work",
        "order-4711 | support    | running | order-4711",
        "a worker claimed the run",
        "completed",
        "suspended_client_tool refund {'order': '4711', 'amount': 40}",
        "We are sorry about the cup.",
        "{'refunded': ",
    ):
        assert words in said, f"{words!r} is missing in:\n{said}"


def test_the_python_examples_are_short() -> None:
    examples = [block.code for block in BLOCKS if block.language == "python"]
    assert len(examples) == len(MOST_PYTHON_LINES)
    for (agent, most), example in zip(MOST_PYTHON_LINES.items(), examples, strict=True):
        assert f'"{agent}"' in example
        assert len(example.splitlines()) <= most


def _script(url: str, room: Path) -> str:
    """Return one script of all blocks; the URL of the reader's own is the test's instead."""
    parts = ["set -euo pipefail"]
    for place, block in enumerate(BLOCKS):
        if block.why == "the URL is your own":
            parts.append(f"export LOCKGATE_DATABASE_URL={shlex.quote(url)}")
        elif block.why is None and block.language == "sh":
            parts.append(block.code)
        elif block.why is None and block.language == "python":
            written = room / f"block_{place}.py"
            written.write_text(block.code)
            parts.append(f"{shlex.quote(sys.executable)} {shlex.quote(str(written))}")
    return "\n".join(parts)


def _run(script: str, room: Path, pytestconfig: pytest.Config) -> str:
    bindir = find_bindir(pytestconfig.getoption("--pg-bin"))
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = str(probe.getsockname()[1])
    path = os.pathsep.join([str(Path(sys.executable).parent), str(bindir), os.environ["PATH"]])
    environment = child_environment(data_folder=str(room / "data"), port=port, drain_s="1")
    done = subprocess.run(
        ["bash", "-c", script.replace(PORT, port)],
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=False,
        env={**environment, "PATH": path},
        cwd=room,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout
