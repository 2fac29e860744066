"""The request digest: equal input has one digest, however it is spelled, in every release.

The digests in `contract/request_digests.json` never change: a stored key is compared with them.
"""

import hashlib
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.support.door import Door
from tests.support.proves import case

DIGESTS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "contract" / "request_digests.json").read_text()
)


READ = {
    "execute": "lockgate.read_start('s1', %(agent)s, i, null, null, null, null, null, null,"
    " 'reject', null, null, null, null, '')",
    "resume": "lockgate.read_resume('s1', %(agent)s, i, null, 'reject', null, null, null, null,"
    " '')",
    "retry": "lockgate.read_retry('s1', %(agent)s, i ->> 'checkpointId', i -> 'message', null,"
    " 'reject', null, null, null, null, '')",
}


def digest_of(db: Door, kept: dict[str, Any], sent: str) -> str:
    """Return the digest under which an entry with this input is recorded."""
    with db.connection.cursor() as cursor:
        cursor.execute(
            f"select (e).bad_field, (e).request_digest from (select {READ[kind_of(kept)]} as e"
            "  from (select %(sent)s::jsonb) input(i)) read".encode(),
            {"agent": kept["agentType"], "sent": sent},
        )
        row = cursor.fetchone()
    assert row is not None
    assert row[0] is None
    return str(row[1])


def kind_of(kept: dict[str, Any]) -> str:
    """Return the kind of entry that a kept digest is of; a start or a chat where none is said."""
    return str(kept.get("kind", "execute"))


@case(24)
def test_each_spelling_has_the_digest_that_is_kept(db: Door, subtests: pytest.Subtests) -> None:
    for kept in DIGESTS:
        for sent in kept["inputs"]:
            with subtests.test(kept["name"], sent=sent):
                assert digest_of(db, kept, sent) == kept["digest"]


@case(24)
def test_no_two_different_inputs_share_a_digest() -> None:
    assert len({kept["digest"] for kept in DIGESTS}) == len(DIGESTS)


def test_the_digest_is_that_of_a_text_anybody_can_write(
    db: Door, subtests: pytest.Subtests
) -> None:
    """The canonical form, written a second time: sorted keys, no white space, exact numbers."""
    for kept in DIGESTS:
        sent = json.loads(kept["inputs"][0], parse_float=Decimal)
        meant = {"agentType": kept["agentType"], "kind": kind_of(kept), "v": 1}
        if "message" in sent:
            meant["message"] = as_parts(sent["message"])
        meant |= {name: sent[name] for name in ("state", "mode", "checkpointId") if sent.get(name)}
        with subtests.test(kept["name"]):
            assert hashlib.sha256(canonical(meant).encode()).hexdigest() == kept["digest"]


@case(24)
def test_a_start_records_that_digest(db: Door) -> None:
    kept = DIGESTS[2]
    answers = [db.start(input=sent, request_key="k1") for sent in kept["inputs"]]

    assert [answer.outcome for answer in answers] == ["started", "attached", "attached"]
    assert db.run(answers[0].run_id).request_digest == kept["digest"]


def as_parts(message: Any) -> list[dict[str, Any]]:
    """Write a message as the list of user messages with content parts."""
    messages = [{"role": "user", "content": message}] if isinstance(message, str) else message
    return [
        {
            "role": "user",
            "content": [{"type": "text", "text": each["content"]}]
            if isinstance(each["content"], str)
            else each["content"],
        }
        for each in messages
    ]


def canonical(value: Any) -> str:
    """Write a JSON value in its one form, without Lockgate's help."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{canonical(k)}:{canonical(value[k])}" for k in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, Decimal):
        text = format(value, "f")
        return text.rstrip("0").rstrip(".") if value else "0"
    return json.dumps(value, ensure_ascii=False)
