"""S33: a dead stream looks like a finished one. Only a terminal event means the end."""

from typing import Any

import lockgate_api.sse
from tests.cases.conftest import Pair
from tests.support.clients import Reader, clients_of, terminal, text_of
from tests.support.proves import case
from tests.support.scene import Scene

BROKEN = {"say": "Transferring 50,0 @break:half and no more."}


@case(33)
def test_a_model_s_stream_that_breaks_off_is_asked_for_again(split: Pair) -> None:
    split.a.started("s1", BROKEN)
    assert split.a.settled("s1")["output"] == "Transferring 50,0 and no more."
    assert text_of(list(split.a.events("s1"))) == "Transferring 50,0 and no more."
    assert len(split.stage.notes("model")) == 2


@case(33)
def test_a_model_s_stream_that_always_breaks_off_is_no_reply(split: Pair) -> None:
    halves = " ".join(f"@break:{number} half" for number in range(5))
    split.a.started("s1", {"say": f"Half a sentence {halves}"})
    status = split.a.settled("s1")
    events = list(split.a.events("s1"))

    assert (status["status"], status["errorDetail"]["code"]) == ("failed", "provider_error")
    assert [event.name for event in terminal(events)] == ["fail"]
    assert events[-1].data["recoverable"] is False
    assert [m["role"] for m in split.a.snapshot("s1")["messages"]] == ["user"]


@case(33)
def test_a_server_that_dies_ends_no_stream_and_another_goes_on(pair: Pair) -> None:
    pair.a.started("s1", {"say": "Transferring @hold:dies 50,000."})
    pair.stage.seen("waits", gate="dies")
    (driving,) = [m for m in pair.members if m.pid == pair.stage.notes("model")[0]["pid"]]
    dies, lives = (pair.a, pair.b) if driving is pair.members[0] else (pair.b, pair.a)
    reader = Reader(dies, "s1")
    reader.seen(1)
    driving.kill()
    events = reader.ended()
    assert reader.broke
    assert terminal(events) == []
    rest = Reader(lives, "s1", last_id=reader.seen(1)[-1].id)
    pair.stage.seen("waits", 2, gate="dies")
    pair.stage.open("dies")
    whole = [*events, *rest.ended()]
    assert [event.name for event in terminal(whole)] == ["end"]
    assert text_of(whole) == "Transferring 50,000."


def break_the_writer() -> None:
    """Have the first response break in its fourth frame."""
    count, write = 0, lockgate_api.sse.frame

    def frame(event: Any) -> bytes:
        nonlocal count
        count += 1
        if count == 4:
            raise RuntimeError("the writer breaks")
        return write(event)

    lockgate_api.sse.frame = frame


@case(33)
def test_a_writer_that_breaks_ends_the_body_without_a_terminal_event(scene: Scene) -> None:
    server = scene.crew.server("A", prepare=break_the_writer)
    with clients_of(server.ready()) as (client,):
        client.started("s1", {"say": "1 2 3 4 5 6"})
        client.settled("s1")
        first = Reader(client, "s1").ended()
        assert [event.name for event in first] == ["chunk"] * 3
        rest = list(client.events("s1", last_id=first[-1].id))
        assert text_of([*first, *rest]) == "1 2 3 4 5 6"
        assert rest[-1].name == "end"
        scene.crew.close()
