"""The command answers at once, and says what is wrong in one line."""

import os
import resource
import subprocess
import sys

import pytest

from tests.ops.processes import COMMAND, lockgate

HELP_S = 0.5  # of processor time: what a busy machine adds is not ours
HEAVY = {"dbos", "sqlalchemy", "litestar", "psycopg", "pydantic", "structlog", "httpx", "asyncio"}
NOWHERE = "postgresql://me:secret@127.0.0.1:1/app"


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_help_takes_less_than_half_a_second() -> None:
    took = []
    for _ in range(3):
        before = _cpu_s()
        done = lockgate("--help")
        took.append(_cpu_s() - before)
        assert done.returncode == 0
        for command in ("demo", "serve", "work", "install", "doctor", "bench"):
            assert f"  {command} " in done.stdout
    assert min(took) < HELP_S, took


def test_help_imports_nothing_heavy() -> None:
    loaded = f"import sys, lockgate_ops.command; print(sorted({HEAVY} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", loaded], text=True).strip() == "[]"


@pytest.mark.parametrize("command", ["work", "install", "doctor"])
def test_a_command_without_its_database_says_how_to_name_one(command: str) -> None:
    done = lockgate(command)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "set LOCKGATE_DATABASE_URL" in done.stderr


@pytest.mark.parametrize(
    "words",
    [("work",), ("install",), ("serve", "--allow-unauthenticated", "--port", "0")],
    ids=lambda words: words[0],
)
def test_a_database_that_is_away_is_one_line_without_its_password(words: tuple[str, ...]) -> None:
    done = lockgate(*words, database_url=NOWHERE)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("lockgate: cannot connect to the database")
    assert "secret" not in done.stderr


def test_a_url_that_is_none_is_said_so() -> None:
    done = lockgate("install", database_url="nonsense")
    assert done.returncode == 2
    assert "the database's URL cannot be read" in done.stderr


def test_debugging_shows_where_it_comes_from_and_still_no_password() -> None:
    done = lockgate("install", database_url=NOWHERE, log_level="debug")
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "secret" not in done.stderr


def test_a_child_leaves_at_once_when_its_parent_has_gone() -> None:
    ours, theirs = os.pipe()
    with subprocess.Popen([*COMMAND, "serve", "--exit-with-parent"], stdin=ours) as child:
        os.close(ours)
        os.close(theirs)
        assert child.wait(20) == 1
