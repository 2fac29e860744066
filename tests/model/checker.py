"""Runs Spin on the model: one folder, one verifier and one verdict for each case."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.model.cases import Case

HERE = Path(__file__).parent
LIMIT_S = 100  # Below the limit of a test, so that a verdict says what took so long.
LONG_LIMIT_S = 500  # The largest has twenty million states.
MEMORY_MB = 4000
CUT_SHORT = ("search depth too small", "out of memory", "too many")


@dataclass(frozen=True)
class Verdict:
    """What the checker found. `holds` is null where it did not look at every state."""

    holds: bool | None
    says: str


def missing_programs() -> list[str]:
    """Name the programs that a check needs and this machine has not."""
    return [name for name in ("spin", "gcc") if shutil.which(name) is None]


def check(case: Case, folder: Path) -> Verdict:
    """Check a case in a folder that is made for it and that keeps the trail."""
    folder.mkdir()
    for page in HERE.glob("*.pml"):
        shutil.copy(page, folder)
    is_safe = case.claim == "safe"
    _run(folder, "spin", *case.flags.split(), "-a", "gate.pml")
    # To optimise costs more than it saves where an error is near.
    _run(
        folder,
        *("gcc", "-Og" if case.holds else "-O0", "-w", "-DCOLLAPSE", f"-DMEMLIM={MEMORY_MB}"),
        *(("-DSAFETY", "-DNOCLAIM") if is_safe else ("-DNFAIR=5",)),
        *("-o", "pan", "pan.c"),
    )
    limit_s = LONG_LIMIT_S if case.is_long else LIMIT_S
    fair = () if is_safe else ("-a", "-f", "-N", case.claim)
    try:
        said = _run(folder, "./pan", *fair, "-m1000000", "-E", limit_s=limit_s)
    except subprocess.TimeoutExpired:
        return Verdict(None, f"not through after {limit_s} s: see {folder}")
    finally:
        for built in folder.glob("pan*"):  # A megabyte; the trail needs none of it.
            built.unlink()
    return _read(said, case, folder)


def _run(folder: Path, *command: str, limit_s: int = LIMIT_S) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=limit_s)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stdout}{done.stderr}"
    return done.stdout


def _read(said: str, case: Case, folder: Path) -> Verdict:
    """Read what a verifier said. One that does not say how it went did not look at all."""
    errors = re.search(r"errors: (\d+)", said)
    if errors is None or any(words in said for words in CUT_SHORT):
        return Verdict(None, said)
    if errors.group(1) == "0":
        return Verdict(True, "")
    trail = f"cd {folder} && spin {case.flags} -t -p gate.pml"
    found = re.search(r"^pan:1: (.*)$", said, re.M)
    return Verdict(False, f"{found.group(1) if found else said}; how it came to that: {trail}")
