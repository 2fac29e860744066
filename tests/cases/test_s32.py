"""S32: sequence numbers rise for the session's life, and the epoch tells two lives apart."""

from tests.cases.conftest import Pair
from tests.support.clients import Reader, terminal
from tests.support.proves import case


@case(32)
def test_an_id_of_an_earlier_run_misses_nothing_of_the_next(split: Pair) -> None:
    first = split.a.started("s1", {"say": "1 2 3 4 5 6 7 8 9 10 11"})["runId"]
    split.a.settled("s1")
    kept = [event for event in split.a.events("s1") if event.name == "chunk"][-1]
    assert (kept.sequence, kept.data["runId"]) == (12, first)
    second = split.a.started("s1", {"say": "1 2 3 4 5 @hold:end"})["runId"]
    split.stage.seen("waits", gate="end")
    split.stage.open("end")
    events = list(split.b.events("s1", last_id=kept.id))

    own = [event for event in events if event.name == "chunk"]
    assert [event.chunk.get("delta", "").strip() for event in own][:5] == ["1", "2", "3", "4", "5"]
    assert [event.sequence for event in own] == list(range(13, 13 + len(own)))
    assert {event.data["runId"] for event in own} == {second}


@case(32)
def test_an_id_of_an_earlier_life_is_told_so(split: Pair) -> None:
    split.a.started("s1", {"say": "The first life."})
    split.a.settled("s1")
    kept = next(event for event in split.a.events("s1") if event.name == "chunk")
    assert split.door.delete_session("s1").outcome == "deleted"
    assert split.a.http.get("/sessions/s1/sse").status_code == 404
    split.a.started("s1", {"say": "Another life."})
    split.a.settled("s1")
    for client in (split.a, split.b):
        events = list(client.events("s1", last_id=kept.id))
        assert [event.name for event in events] == ["rewound"]
        assert events[0].data["at"] == 0
        assert [event.name for event in terminal(list(client.events("s1")))] == ["end"]


@case(32)
def test_a_reader_of_a_life_that_ends_is_told_so_and_its_drive_goes_away(split: Pair) -> None:
    run_id = split.a.started("s1", {"say": "1 2 3 @hold:end 4"})["runId"]
    reader = Reader(split.a, "s1")
    split.stage.seen("waits", gate="end")
    reader.seen(3)
    assert split.door.delete_session("s1").outcome == "deleted"
    assert [event.name for event in terminal(reader.ended())] == ["rewound"]
    split.stage.open("end")

    anew = split.a.started("s1", {"say": "Another life."})["runId"]
    assert split.a.settled("s1")["output"] == "Another life."
    events = list(split.b.events("s1"))
    assert {event.data["runId"] for event in events if event.name == "chunk"} == {anew}
    assert split.door.rows("select from lockgate_store.runs where run_id = %s", run_id) == []
