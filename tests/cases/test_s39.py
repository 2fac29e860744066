"""S39: streams eat the connection pool."""

import socket
import time
from contextlib import ExitStack
from urllib.parse import urlsplit

from tests.cases.conftest import Pair
from tests.support.clients import Reader, clients_of
from tests.support.proves import case
from tests.support.scene import Scene, call

POOL = 5
OWN = (
    "select state, count(*) as n from pg_stat_activity"
    " where application_name = 'lockgate' and pid <> all(%s) group by 1"
)


def slow_reader(address: str, session_id: str) -> socket.socket:
    """Ask for a stream and never read it."""
    place = urlsplit(address)
    client = socket.create_connection((str(place.hostname), place.port or 0), timeout=10)
    client.sendall(f"GET /sessions/{session_id}/sse HTTP/1.1\r\nhost: x\r\n\r\n".encode())
    return client


@case(39)
def test_eighty_open_streams_hold_no_connection(scene: Scene) -> None:
    back = scene.crew.server("B")
    front = scene.crew.server("A", "--no-worker", settings={"pool_size": str(POOL)})
    members = (front, back)
    with clients_of(*(member.ready() for member in members)) as (a, b), ExitStack() as stack:
        pair = Pair(a, b, members, scene)
        pair.a.started("paused", {"calls": [call("pick")]}, {"say": "Done."})
        (pick,) = pair.a.pending("paused")
        for number in range(40):
            pair.a.started(f"s{number}", {"say": "A long @hold:end call."})
        pair.stage.seen("waits", 40, gate="end")
        others = [row.pid for row in pair.door.rows("select pid from pg_stat_activity")]
        readers = [Reader(pair.a, f"s{number}") for number in range(40)]
        for reader in readers:
            reader.seen(1, "caught-up")
        for number in range(40):
            stack.enter_context(slow_reader(pair.a.address, f"s{number}"))
        began = time.monotonic()
        assert pair.a.start("other", {"say": "Hello."}).status_code == 200
        assert len(pair.a.snapshot("s1")["messages"]) == 1
        assert pair.a.status("s2")["isExecuting"] is True
        assert pair.a.submit("paused", pick, result="red").json()["status"] == "accepted"
        assert time.monotonic() - began < 1
        opened = {row.state: row.n for row in pair.door.rows(OWN, others)}
        assert sum(opened.values()) <= POOL
        assert "idle in transaction" not in opened
        pair.stage.open("end")
        assert {reader.ended()[-1].name for reader in readers} == {"end"}
        scene.crew.close()
