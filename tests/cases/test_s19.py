"""S19: the answer is lost after everything was saved. Left: through /chat."""

import http.client
import json
import socket
from urllib.parse import urlsplit

import pytest

from tests.cases.conftest import Pair
from tests.support.clients import Client, Reader, text_of
from tests.support.proves import case
from tests.support.scene import script
from tests.support.seen import seen

HELD = {"say": "Hello @hold:one and goodbye."}


def send_and_go(client: Client, session_id: str) -> None:
    """Send a start under k1 whole, and leave before a byte of the answer is read."""
    address = urlsplit(client.address)
    connection = http.client.HTTPConnection(str(address.hostname), address.port)
    connection.connect()
    # What is still to be read is thrown away: the server sees a connection that is gone.
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    connection.request(
        "POST",
        f"/sessions/{session_id}/start",
        body=_body(),
        headers={"Content-Type": "application/json", "X-Helix-Request-Key": "k1"},
    )
    connection.close()


def _body() -> str:
    return json.dumps({"agentType": "scripted", "input": {"message": script(HELD)}})


@case(19)
@pytest.mark.parametrize("is_over", [False, True], ids=["while it runs", "after it completed"])
def test_who_asks_again_gets_the_run_that_was_saved(pair: Pair, is_over: bool) -> None:
    run_id = pair.a.started("s1", HELD, key="k1")["runId"]
    if is_over:
        pair.stage.open("one")
        pair.a.settled("s1")
    again = pair.b.started("s1", HELD, key="k1")
    reader = Reader(pair.b, "s1", after=again["startSequence"])
    pair.stage.open("one")
    events = reader.ended()

    assert (again["status"], again["runId"]) == ("attached", run_id)
    assert text_of(events) == "Hello and goodbye."
    assert events[-1].name == "end"
    assert pair.runs("s1") == len(pair.inputs("s1")) == pair.models(run_id) == 1


@case(19)
def test_a_client_that_left_before_the_answer_finds_its_run(pair: Pair) -> None:
    """Nobody knows whether the request came through: the same request under its key tells."""
    send_and_go(pair.a, "s1")
    again = pair.b.started("s1", HELD, key="k1")
    pair.stage.open("one")
    pair.b.settled("s1")

    seen(lambda: pair.models(again["runId"]) == 1, "the run was driven")
    assert pair.runs("s1") == len(pair.inputs("s1")) == 1
