"""S47: a key's full name is tenant, session and key."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cases.conftest import Pair
from tests.support.clients import Client, clients_of
from tests.support.proves import case
from tests.support.scene import Scene
from tests.support.seen import seen

DOOR = ("--authenticate", "tests.support.stage_agents:as_told")
ONE, TWO = {"x-tenant": "t1"}, {"x-tenant": "t2"}
KEY = "order-1"


@pytest.fixture
def pair(scene: Scene) -> Iterator[Pair]:
    """A and B, whose callers say of which tenant they are."""
    members = (scene.crew.server("A", *DOOR), scene.crew.server("B", *DOOR))
    with clients_of(*(member.ready() for member in members)) as (a, b):
        scene.listened_to(2)
        yield Pair(a, b, members, scene)
        scene.crew.close()


def start(client: Client, session_id: str, word: str, tenant: dict[str, str]) -> dict[str, Any]:
    answer = client.start(session_id, {"say": word}, key=KEY, headers=tenant)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def settled(client: Client, session_id: str, tenant: dict[str, str]) -> dict[str, Any]:
    def look() -> dict[str, Any]:
        answer = client.http.get(f"/sessions/{session_id}/status", headers=tenant)
        body: dict[str, Any] = answer.json()
        return body if body.get("status") != "active" else {}

    return seen(look, f"{session_id} has settled")


@case(47)
def test_a_key_is_one_tenant_s_and_one_session_s(pair: Pair) -> None:
    own = start(pair.a, "s1", "secret-of-t1", ONE)
    settled(pair.a, "s1", ONE)
    others = [
        start(pair.b, "s2", "secret-of-t1", TWO),
        start(pair.b, "s1", "another-word", TWO),
        start(pair.a, "s3", "secret-of-t1", ONE),
    ]
    assert {body["status"] for body in [own, *others]} == {"started"}
    assert len({body["runId"] for body in [own, *others]}) == 4
    assert settled(pair.b, "s1", TWO)["output"] == "another-word"
    for path in ("status", "snapshot", "sse"):
        body = pair.b.http.get(f"/sessions/s1/{path}", headers=TWO).text
        assert "secret-of-t1" not in body
        assert own["runId"] not in body
    assert start(pair.b, "s1", "secret-of-t1", ONE)["status"] == "attached"
    settled(pair.b, "s2", TWO)
    settled(pair.b, "s3", ONE)


@case(47)
def test_a_key_goes_with_its_session_and_with_no_other(pair: Pair) -> None:
    first = start(pair.a, "s1", "One.", ONE)
    other = start(pair.a, "s1", "One.", TWO)
    settled(pair.a, "s1", ONE)
    settled(pair.a, "s1", TWO)
    assert pair.door.delete_session("s1", tenant_id="t1").outcome == "deleted"
    anew = start(pair.b, "s1", "Another.", ONE)
    assert anew["status"] == "started"
    assert anew["runId"] != first["runId"]
    again = start(pair.b, "s1", "One.", TWO)
    assert (again["status"], again["runId"]) == ("attached", other["runId"])
    assert settled(pair.b, "s1", ONE)["output"] == "Another."
    assert "One." not in json.dumps(pair.b.http.get("/sessions/s1/snapshot", headers=ONE).json())
