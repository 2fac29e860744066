"""S38: losing the viewer is not a stop. Left: /chat and submits whose client goes."""

import json
import random
import socket
from urllib.parse import urlsplit

from tests.cases.conftest import Pair
from tests.support.clients import Client
from tests.support.proves import case
from tests.support.rounds import rounds
from tests.support.scene import script
from tests.support.seen import seen

STARTED = {"agentType": "scripted", "input": {"message": script({"say": "Hello."})}}
OPEN = (
    "select from pg_stat_activity"
    " where application_name = 'lockgate' and starts_with(state, 'idle in')"
)
RESET_ON_CLOSE = b"\1\0\0\0\0\0\0\0"


def drop(client: Client, session_id: str, upto: float, *, abruptly: bool) -> None:
    """Send a part of a start, or all of it, and go."""
    body = json.dumps(STARTED)
    head = f"POST /sessions/{session_id}/start HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}"
    request = f"{head}\r\n\r\n{body}".encode()
    place = urlsplit(client.address)
    with socket.create_connection((str(place.hostname), place.port or 0), timeout=10) as link:
        if abruptly:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        link.sendall(request[: round(upto * len(request))])


@case(38)
@rounds(60, 300)
def test_a_client_that_goes_at_any_point_leaves_nothing_or_a_whole_run(
    pair: Pair, rounds: int
) -> None:
    rng = random.Random(38)
    for number in range(rounds):
        upto = 1.0 if number % 2 else rng.uniform(0, 0.99)
        drop((pair.a, pair.b)[number % 4 // 2], f"s{number}", upto, abruptly=number % 3 == 0)
    pair.a.started("last", {"say": "Hello."})

    def stand() -> list[str]:
        rows = pair.door.rows("select distinct status from lockgate_store.sessions")
        return [row.status for row in rows]

    seen(lambda: stand() == ["completed"], "all that began has ended")
    runs = pair.door.rows("select session_id, status, stop_kind, turn from lockgate_store.runs")
    assert {(run.status, run.stop_kind, run.turn) for run in runs} == {("completed", None, 1)}
    whole = {f"s{number}" for number in range(1, rounds, 2)} | {"last"}
    assert {run.session_id for run in runs} <= whole, "half a request asks for nothing"
    assert len(runs) > rounds // 4, "a client that said all of it has asked"
    sessions = pair.door.rows("select session_id from lockgate_store.sessions")
    assert {row.session_id for row in sessions} == {run.session_id for run in runs}
    seen(lambda: not pair.door.rows(OPEN), "no transaction is left open")
    for name, client in (("again-a", pair.a), ("again-b", pair.b)):
        client.started(name, {"say": "Hello."})
        assert client.settled(name)["status"] == "completed"


@case(38)
def test_a_reader_that_goes_stops_nothing(pair: Pair) -> None:
    pair.a.started("s1", {"say": "First @hold:end last."})
    pair.stage.seen("waits", gate="end")
    for client in (pair.a, pair.b) * 5:
        stream = client.events("s1")
        next(stream)
        stream.close()
    pair.stage.open("end")
    assert pair.a.settled("s1")["output"] == "First last."
    assert pair.door.row("select stop_kind from lockgate_store.runs").stop_kind is None
