"""S40: NOTIFY is limited to 8000 bytes: what is long is stored, and the signal carries ids only."""

from lockgate.errors import error_detail
from tests.cases.conftest import Pair
from tests.support.clients import Reader, text_of
from tests.support.proves import case
from tests.support.scene import call

LONG = "x" * 20_000
ERROR = "an error " * 2_300
THREE_BYTES = "€" * 2_700


@case(40)
def test_what_is_longer_than_a_notification_arrives_live_and_in_replay(split: Pair) -> None:
    session_id = "s" * 256
    split.a.started(
        session_id,
        {"calls": [call("odd", kind="long"), call("boom", message=ERROR), call("hold", gate="go")]},
        {"say": f"@raw:{LONG}"},
    )
    live = [Reader(client, session_id) for client in (split.a, split.b)]
    for reader in live:
        reader.seen(2)
    split.stage.open("go")
    assert split.a.settled(session_id)["output"] == LONG
    for events in [reader.ended() for reader in live] + [list(split.a.events(session_id))]:
        assert text_of(events) == LONG
        ends = [e.chunk for e in events if e.name == "chunk" and e.chunk["type"] == "tool_end"]
        assert ends[0].get("result", ends[1].get("result")) == "€" * 7_000
        (error,) = (end["error"] for end in ends if "error" in end)
        assert ERROR.startswith(error)
        assert 8_000 < len(error) <= 8_192, "what the model reads of an error is capped"


@case(40)
def test_three_byte_characters_are_counted_in_neither_way(split: Pair) -> None:
    split.a.started("s1", {"say": THREE_BYTES}, key="k1")
    assert split.b.settled("s1")["output"] == THREE_BYTES
    assert text_of(list(split.b.events("s1"))) == THREE_BYTES
    split.a.started("s1", {"fail": {"message": THREE_BYTES}})
    status = split.b.settled("s1")
    assert status["errorDetail"]["message"] == "€" * 256
    assert list(split.b.events("s1"))[-1].data["error"] == "€" * 256


@case(40)
def test_an_error_of_one_long_word_says_something() -> None:
    """Chinese has no spaces, and a dump has none either."""
    assert error_detail(RuntimeError("错" * 9_000))["message"] != ""
