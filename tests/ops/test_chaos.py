"""The command itself, over a cluster of its own: a minute of storm loses nothing."""

import json
import random
import subprocess
from collections.abc import Mapping

import pytest

from lockgate_ops.chaos.troubles import DECK
from lockgate_ops.settings import child_environment
from tests.ops.processes import COMMAND

SECONDS = 60
BOUND_S = 500.0
WAYS = ("HTTP", "SQL, by the runtime", "SQL, plain")
DRIVES = ("start", "resume", "retry", "continue")
CLUSTER = ("--workers", "3", "--servers", "2", "--sessions", "30")  # what two cores can start


@pytest.mark.timeout(BOUND_S + 60)
def test_a_minute_of_every_trouble_loses_nothing_and_does_nothing_twice(
    capsys: pytest.CaptureFixture[str],
) -> None:
    seed = random.randrange(10**6)
    asked = ["--seconds", str(SECONDS), "--seed", str(seed), *CLUSTER]
    with capsys.disabled():
        print(f"\nlockgate chaos {' '.join(asked)}")  # noqa: T201 - so that it can be had again.
    done = subprocess.run(
        [*COMMAND, "chaos", *asked, "--json"],
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=False,
        env=child_environment(),
    )
    assert done.stdout, done.stderr
    told = json.loads(done.stdout)

    assert (told["wrong"], done.returncode) == ([], 0), f"seed {seed}: {done.stderr}"
    assert set(told["troubles"]) == set(DECK), "each kind of trouble has happened"
    for way in WAYS:
        for outcome in ("started", "attached"):
            assert told["entries"].get(f"{way}: {outcome}", 0) > 0, f"{way} {outcome} {seed}"
    for drive in DRIVES:
        assert of_kind(told["runs"], f"{drive} ") > 0
    assert of_kind(told["runs"], "") >= SECONDS
    assert told["takeovers"] > 0
    assert told["tales"]["poisonous_model"] > 0, "a poisonous run has spent its budget"
    assert told["workers ended by poison"] > 0
    assert told["cuts of readers"] > 0
    assert min(told["looks"].values()) >= SECONDS / 2


def of_kind(count: Mapping[str, int], kind: str) -> int:
    return sum(times for name, times in count.items() if name.startswith(kind))
