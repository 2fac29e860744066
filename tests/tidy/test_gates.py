"""The tools that judge the whole tree: format, lint, types, layers."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent

GATES: dict[str, list[str | Path]] = {
    "format": [BIN / "ruff", "format", "--check", "."],
    "lint": [BIN / "ruff", "check", "."],
    "layers": [BIN / "lint-imports"],
    "types": [BIN / "mypy"],
}


@pytest.mark.parametrize("gate", GATES)
def test_the_tree_passes(gate: str) -> None:
    done = subprocess.run(GATES[gate], cwd=ROOT, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr
