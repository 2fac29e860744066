"""S14: a subscriber arrives while the run is finishing. Left: a run that is being suspended."""

import time

from tests.cases.conftest import Pair
from tests.support.clients import Client, Event, at_once, terminal
from tests.support.proves import case
from tests.support.rounds import rounds

WITHIN_S = 2.0


@case(14)
@rounds(20, 200)
def test_every_subscriber_gets_the_end(split: Pair, rounds: int) -> None:
    """B drives and ends the run at the very moment at which readers come to A and to B."""
    for number in range(rounds):
        session_id, gate = f"s{number}", f"g{number}"
        split.a.started(session_id, {"say": f"First @hold:{gate} last."})
        split.stage.seen("waits", gate=gate)

        def read(client: Client, session_id: str = session_id) -> list[Event]:
            return list(client.events(session_id))

        def end(gate: str = gate) -> list[Event]:
            split.stage.open(gate)
            return []

        began = time.monotonic()
        calls = [lambda client=client: read(client) for client in (split.a, split.b) * 2]
        *read_by_all, _ = at_once([*calls, end])
        assert time.monotonic() - began < WITHIN_S
        for events in read_by_all:
            assert [event.data["status"] for event in terminal(events)] == ["completed"]
            assert events[-1].name == "end"
            deltas = [e.chunk["delta"] for e in events if e.name == "chunk" and "delta" in e.chunk]
            assert deltas == ["First ", "last."]
