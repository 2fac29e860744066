"""S53: error texts carry secrets. Every output of what fails is looked through.

Left: a submit's errors, the remote protocol, a chat's frames.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cases.conftest import Pair, wait_less
from tests.support.clients import at_once, clients_of
from tests.support.fault_proxy import Proxy
from tests.support.proves import case
from tests.support.scene import Scene, call
from tests.support.stage_agents import SECRET

# What stands in SECRET, in the URL of the database, and in what a driver likes to quote.
SECRETS = re.compile(
    r"p%40ss|w:rd|10\.0\.0\.5|a b|app\.pem|sk-live|select \* from|p_session_id|127\.0\.0\.1"
)
TOKEN = "Authorization: Bearer sk-live-0123456789abcdef"
NESTED = " caused by ".join(f"level {n}: {SECRET}" for n in range(10))


@pytest.fixture
def pair(scene: Scene, proxy: Proxy) -> Iterator[Pair]:
    """A comes to the database through a link that can break; both have a hook."""
    members = (
        scene.crew.server("A", url=proxy.url, settled=True, prepare=wait_less),
        scene.crew.server("B", settled=True),
    )
    with clients_of(*(member.ready() for member in members)) as (a, b):
        scene.listened_to(2)
        yield Pair(a, b, members, scene)
        scene.crew.close()


def every_output(pair: Pair, *session_ids: str) -> Iterator[tuple[str, str]]:
    """Yield whatever a client, an operator or the host gets to read of some sessions."""
    for session_id in session_ids:
        for path in ("status", "snapshot", "sse"):
            yield path, pair.b.http.get(f"/sessions/{session_id}/{path}").text
    for table in ("runs", "sessions", "streams", "recoveries", "deliveries", "settlements"):
        for row in pair.door.rows(f"select to_jsonb(t) as it from lockgate_store.{table} t"):
            yield table, json.dumps(row.it, ensure_ascii=False)
    for note in pair.stage.notes("settled"):
        yield "hook", json.dumps(note)
    for member in pair.members:
        for line in member.log.read_text().splitlines():
            if not line.startswith("ready "):  # Its own address, which a person asked for.
                yield "log", line


def texts(detail: Any, depth: int = 0) -> Iterator[tuple[int, str]]:
    """Yield the texts of a failure with their depth."""
    if isinstance(detail, str):
        yield depth, detail
    elif isinstance(detail, dict):
        yield depth, detail["message"]
        yield from texts(detail.get("cause"), depth + 1)


@case(53)
def test_what_fails_in_a_drive_tells_no_secret(pair: Pair) -> None:
    bad = f"It failed <b>here</b>: {SECRET} {TOKEN}\n\x1b[31m{NESTED}"
    pair.b.started("tool", {"calls": [call("boom", message=bad)]}, {"say": "Done."})
    pair.b.started("model", {"fail": {"message": bad}})
    pair.b.started("throws", {"say": "Both hooks throw."})
    for session_id in ("tool", "model", "throws"):
        pair.b.settled(session_id)
    pair.stage.seen("settled", 3)
    told = pair.b.status("model")
    assert (told["errorDetail"]["code"], told["errorDetail"]["retryable"]) == (
        "provider_error",
        False,
    )
    for depth, text in texts(told["errorDetail"]):
        assert len(text) <= 256
        assert depth <= 8
        assert not re.search(r"[\x00-\x1f<>]", text)
    (shown,) = (
        part
        for message in pair.b.snapshot("tool")["messages"]
        for part in message["parts"]
        if part["type"] == "dynamic-tool"
    )
    assert len(shown["errorText"]) <= 8_192
    assert not re.search(r"[\x00-\x1f<>]", shown["errorText"])
    messages = pair.door.messages("model") + pair.door.messages("tool")
    inputs = [json.dumps(m.content) for m in messages if m.role != "tool"]
    assert any("p%40ss" in text for text in inputs), "what a user says himself is not an error"
    outputs = [
        (place, text)
        for place, text in every_output(pair, "throws", "model")
        if '"role":"user"' not in text.replace(" ", "")
    ]
    leaks = [(place, text[:300]) for place, text in outputs if SECRETS.search(text)]
    assert leaks == []


@case(53)
def test_what_fails_in_an_entry_tells_no_secret(pair: Pair, proxy: Proxy) -> None:
    answers = [pair.b.start("s1", "hi", agentType="factory")]
    with proxy.away():
        away, *reads = at_once(
            [
                lambda: pair.a.start("s2", "hi"),
                lambda: pair.a.http.get("/sessions/s2/snapshot"),
                lambda: pair.a.http.get("/readyz"),
            ]
        )
    assert (away.status_code, away.json()["code"]) == (503, "framework_store_unavailable")
    for answer in (*answers, away, *reads):
        assert answer.status_code in (500, 503)
        assert not SECRETS.search(answer.text), answer.text
    told = [(place, text[:300]) for place, text in every_output(pair) if SECRETS.search(text)]
    assert told == []
