"""S34: newlines and line separators inside SSE data."""

import json
from typing import Any

from tests.cases.conftest import Pair
from tests.support.proves import case

TEXT = "a\nb\r\nc\rd\u2028e\u0085f\n\nevent: end\nid: 9999"
RAW = TEXT.encode("unicode_escape").decode().replace(" ", "\\x20")


def parse(lines: list[str]) -> list[dict[str, Any]]:
    """Parse events by the standard, from lines that were split in some way."""
    events: list[dict[str, Any]] = []
    now: dict[str, Any] = {}
    for line in lines:
        name, _, value = line.partition(":")
        if not line and now:
            events.append(now)
            now = {}
        elif name:
            now.setdefault(name, []).append(value.removeprefix(" "))
    return events


@case(34)
def test_any_parser_gets_the_text_and_nothing_that_poses_as_a_field(split: Pair) -> None:
    split.a.started("s1", {"say": f"@raw:{RAW}"})
    split.a.settled("s1")
    body = split.a.bytes("s1").decode()
    strict = body.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for events in (parse(strict), parse(body.splitlines())):
        named = [
            (event["event"][0], json.loads(event["data"][0]))
            for event in events
            if "event" in event
        ]
        assert [name for name, _ in named] == ["chunk", "chunk", "end"]
        assert named[0][1]["chunk"]["delta"] == TEXT
        assert named[-1][1]["output"] == TEXT
        assert [event.get("id", [""])[0].split("-")[0] for event in events] == ["1", "2", ""]
    (first, *_) = split.a.events("s1")
    assert [event.name for event in split.b.events("s1", last_id=first.id)] == ["chunk", "end"]


@case(34)
def test_an_error_text_is_one_line_too(split: Pair) -> None:
    split.a.started("s1", {"fail": {"message": TEXT}})
    split.a.settled("s1")
    body = split.a.bytes("s1").decode()
    assert body.splitlines() == body.split("\n")[:-1]
    assert body.count("event: fail") == 1
    assert "\nid: 9999" not in body
    assert "\nevent: end" not in body
