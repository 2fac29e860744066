"""S16: cut and reconnect, each event once; on whichever process."""

import random

from tests.cases.conftest import Pair
from tests.support.clients import Event, terminal
from tests.support.proves import case

WORDS = [f"w{number}" for number in range(1, 501)]


@case(16)
def test_forty_reconnects_over_two_processes_lose_and_double_nothing(split: Pair) -> None:
    split.b.started("s1", {"say": "@pace:0.001 " + " ".join(WORDS)})
    rng, union, last_id = random.Random(16), list[Event](), None
    for number in range(40):
        client = (split.a, split.b)[number % 2]
        taken = rng.randrange(0, 25)
        stream = client.events("s1", last_id=last_id)
        for event in stream:
            if event.name != "chunk" or taken == 0:
                break
            union.append(event)
            last_id, taken = event.id, taken - 1
        stream.close()
    rest = list(split.a.events("s1", last_id=last_id))
    union += [event for event in rest if event.name == "chunk"]

    assert [event.name for event in terminal(rest)] == ["end"]
    spoken = [event for event in union if "delta" in event.chunk]
    assert [event.chunk["delta"].strip() for event in spoken] == WORDS
    assert [event.sequence for event in union] == list(range(1, len(union) + 1))
    replays = [split.a.bytes("s1"), split.b.bytes("s1")]
    assert replays[0] == replays[1]
    assert replays[0].count(b"event: chunk\n") == len(union)
