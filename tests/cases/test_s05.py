"""S05: twenty identical requests with one key over two processes. Left: /resume, /retry, /chat."""

from collections import Counter

from tests.cases.conftest import Pair
from tests.support.clients import at_once
from tests.support.proves import case
from tests.support.rounds import rounds


@case(5)
@rounds(10, 100)
def test_twenty_requests_are_one_run(pair: Pair, rounds: int) -> None:
    """One is started and nineteen attach, whether the run still runs or has ended meanwhile."""
    for number in range(rounds):
        turn, key = {"say": f"Hello {number}."}, f"k{number}"
        session_id = f"s{number // 2}"  # every other round on a session that had a run
        answers = at_once(
            [
                lambda client=client: client.start(session_id, turn, key=key)  # type: ignore[misc]  # noqa: B023
                for client in (pair.a, pair.b) * 10
            ]
        )
        assert {answer.status_code for answer in answers} == {200}
        bodies = [answer.json() for answer in answers]
        assert Counter(body["status"] for body in bodies) == {"started": 1, "attached": 19}
        (run_id,) = {body["runId"] for body in bodies}
        assert len({body["startSequence"] for body in bodies}) == 1
        assert pair.a.settled(session_id)["output"] == turn["say"]
        assert pair.models(run_id) == 1
        assert pair.runs(session_id) == len(pair.inputs(session_id)) == number % 2 + 1
    logs = [member.log.read_text() for member in pair.members]
    assert not any('"level": "error"' in log or '"level": "warning"' in log for log in logs)
