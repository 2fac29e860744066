"""S12: the answer arrives before the pause is saved."""

import random
import threading

from tests.cases.conftest import Pair
from tests.support.proves import case
from tests.support.scene import call

ROUNDS = 100


@case(12)
def test_an_early_answer_is_told_to_come_again_and_none_is_lost(pair: Pair) -> None:
    """The server call beside it holds the suspension; the client knows the id already."""
    for number in range(ROUNDS):
        session_id, gate = f"s{number}", f"g{number}"
        pick = {"id": f"c{number}", **call("pick")}
        pair.a.started(session_id, {"calls": [pick, call("hold", gate=gate)]}, {"say": "Done."})
        pair.stage.seen("waits", gate=gate)
        shown = {"toolCallId": f"c{number}"}
        early = pair.b.submit(session_id, shown, result="red")
        assert (early.status_code, early.json()["code"]) == (409, "state_not_resumable")
        assert (early.json()["retryable"], early.json()["cause"]) == (True, "not_pending_yet")
        assert pair.a.snapshot(session_id)["pending"] == []
        late = threading.Timer(random.uniform(0, 0.02), pair.stage.open, [gate])
        late.start()
        answer = early
        while answer.status_code != 200:
            assert answer.json().get("cause") == "not_pending_yet", answer.text
            answer = pair.b.submit(session_id, shown, result="red")
        late.join()
        assert answer.json()["status"] == "accepted"
        assert pair.a.settled(session_id)["output"] == "Done."
        assert pair.runs(session_id) == 2
