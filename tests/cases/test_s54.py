"""S54: a peer's stale copy blocks the session."""

from tests.cases.conftest import Pair
from tests.support.proves import case

HELD = {"say": "One @hold:one more."}


@case(54)
def test_who_answered_a_duplicate_takes_the_next_entry(pair: Pair) -> None:
    """Whichever process drives, both have answered for the run, and neither remembers it."""
    started = pair.a.started("s1", HELD, key="k1")
    for client in (pair.a, pair.b):
        assert client.started("s1", HELD, key="k1")["status"] == "attached"
        assert client.start("s1", {"say": "Two."}).json()["code"] == "state_already_running"
    pair.stage.open("one")
    pair.a.settled("s1")
    second = pair.b.started("s1", {"say": "Two."})
    pair.b.settled("s1")
    third = pair.a.started("s1", {"say": "Three."})
    pair.a.settled("s1")

    assert len({started["runId"], second["runId"], third["runId"]}) == 3
    for read in ("status", "snapshot"):
        a, b = (getattr(client, read)("s1") for client in (pair.a, pair.b))
        a.pop("timestamp", None), b.pop("timestamp", None)
        assert a == b
    assert pair.a.status("s1")["runId"] == third["runId"]
    assert pair.b.status("s1")["output"] == "Three."
