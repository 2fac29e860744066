"""S02: two processes both see the session as free."""

import threading

from tests.cases.conftest import Pair
from tests.support.clients import at_once
from tests.support.proves import case
from tests.support.rounds import rounds

LIVE = """
  select session_id, count(*) as n from lockgate_store.runs
   where lockgate.is_live(status) group by session_id having count(*) > 1
"""


@case(2)
@rounds(10, 100)
def test_of_two_starts_at_the_same_instant_one_is_taken(pair: Pair, rounds: int) -> None:
    done, twice = threading.Event(), []

    def sample() -> None:
        with pair.scene.database.connect() as connection:
            while not done.is_set():
                twice.extend(connection.execute(LIVE).fetchall())

    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        for number in range(rounds):
            one_round(pair, f"s{number}")
    finally:
        done.set()
        sampler.join()
        pair.stage.open("end")
    assert twice == []


def one_round(pair: Pair, session_id: str) -> None:
    texts = {client: f"From {name}." for client, name in ((pair.a, "a"), (pair.b, "b"))}
    answers = at_once(
        [
            lambda client=client, text=text: client.start(session_id, {"say": f"{text} @hold:end"})  # type: ignore[misc]
            for client, text in texts.items()
        ]
    )
    taken, refused = sorted(answers, key=lambda answer: answer.status_code)
    assert (taken.status_code, refused.status_code) == (200, 409)
    body = refused.json()
    assert (body["code"], body["retryable"]) == ("state_already_running", True)
    winner = pair.door.run(pair.door.session(session_id).current_run_id)
    assert str(winner.run_id) == taken.json()["runId"]
    assert pair.runs(session_id) == 1
    (text,) = pair.inputs(session_id)
    assert texts[(pair.a, pair.b)[answers.index(taken)]] in text
