"""The conformance cases, played by a client that knows nothing of Python: node and its `pg`."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.contract.cases.player import CASES, FOLDER
from tests.support.cluster import Database

HERE = Path(__file__).parent
CACHE = HERE.parents[2] / "build" / "node"
INSTALL = "apt-get install nodejs npm"
WITHIN_S = 100


@pytest.fixture(scope="session")
def node() -> str:
    """Return node's path, with the packages installed beside; skip, loudly, where it is not."""
    found, npm = shutil.which("node"), shutil.which("npm")
    if found is None or npm is None:
        pytest.skip(f"no node with npm here: {INSTALL}")
    CACHE.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "package.json", CACHE)
    if not (CACHE / "node_modules" / ".package-lock.json").exists():  # npm writes it last.
        told = subprocess.run(
            [npm, "install", "--no-audit", "--no-fund", "--no-package-lock", "--fetch-retries=1"],
            cwd=CACHE,
            capture_output=True,
            text=True,
            timeout=WITHIN_S,
        )
        if told.returncode:
            pytest.skip(f"npm cannot install `pg` here: {told.stderr.partition(chr(10))[0]}")
    return found


def test_node_is_answered_as_the_cases_say(node: str, clean_database: Database) -> None:
    told = subprocess.run(
        [node, HERE / "run_cases.mjs", clean_database.url, FOLDER],
        cwd=CACHE,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=True,
    )

    assert json.loads(told.stdout) == {"passed": len(CASES), "failed": []}
