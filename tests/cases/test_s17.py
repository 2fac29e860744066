"""S17: the snapshot plus the tail show the text once."""

import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.cases.conftest import Pair
from tests.support.clients import Client, text_of
from tests.support.proves import case
from tests.support.rounds import rounds

WORDS = " ".join(f"w{number}" for number in range(1, 301))
FIRST = {"say": "The first answer."}


def own_text(snapshot: dict[str, Any], run_id: str) -> str:
    """Return what a snapshot shows of a run's reply."""
    found = [m for m in snapshot["messages"] if m["id"] == f"msg_{run_id}"]
    return "".join(p["text"] for m in found for p in m["parts"] if p["type"] == "text")


@case(17)
@rounds(20, 50)
def test_at_any_moment_they_are_the_whole_text(split: Pair, rounds: int) -> None:
    first = split.a.started("s1", FIRST)["runId"]
    split.a.settled("s1")
    second = split.a.started("s1", {"say": f"@pace:0.001 {WORDS}"})["runId"]

    def look(client: Client, after_s: float) -> None:
        time.sleep(after_s)  # A random moment; nothing is waited for.
        snapshot = client.snapshot("s1")
        assert own_text(snapshot, first) == "The first answer."
        cursor = f"{snapshot['streamSequence']}-{snapshot['epoch']}"
        events = list(client.events("s1", last_id=cursor))
        assert {event.data["runId"] for event in events if event.name == "chunk"} <= {second}
        assert own_text(snapshot, second) + text_of(events) == WORDS

    rng = random.Random(17)
    with ThreadPoolExecutor(rounds) as threads:
        looks = [
            threads.submit(look, (split.a, split.b)[number % 2], rng.uniform(0, 0.8))
            for number in range(rounds)
        ]
        for each in looks:
            each.result(30)
    assert own_text(split.a.snapshot("s1"), second) == WORDS
