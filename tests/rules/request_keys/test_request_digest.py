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


def digest_of(db: Door, agent_type: str, sent: str) -> str:
    """Return the digest under which a start with this input is recorded."""
    digest: str = db.row(
        "select lockgate.request_digest('execute', %s, lockgate.read_message(i -> 'message'),"
        " nullif(i -> 'state', 'null')) as digest from (select %s::jsonb) input(i)",
        agent_type,
        sent,
    ).digest
    return digest


@case(24)
def test_each_spelling_has_the_digest_that_is_kept(db: Door, subtests: pytest.Subtests) -> None:
    for kept in DIGESTS:
        for sent in kept["inputs"]:
            with subtests.test(kept["name"], sent=sent):
                assert digest_of(db, kept["agentType"], sent) == kept["digest"]


@case(24)
def test_no_two_different_inputs_share_a_digest() -> None:
    assert len({kept["digest"] for kept in DIGESTS}) == len(DIGESTS)


def test_the_digest_is_that_of_a_text_anybody_can_write(
    db: Door, subtests: pytest.Subtests
) -> None:
    """The canonical form, written a second time: sorted keys, no white space, exact numbers."""
    for kept in DIGESTS:
        sent = json.loads(kept["inputs"][0], parse_float=Decimal)
        messages = sent["message"]
        if isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        meant = {
            "agentType": kept["agentType"],
            "kind": "execute",
            "v": 1,
            "message": [
                {
                    "role": "user",
                    "content": [{"type": "text", "text": m["content"]}]
                    if isinstance(m["content"], str)
                    else m["content"],
                }
                for m in messages
            ],
        }
        if sent.get("state"):
            meant["state"] = sent["state"]
        with subtests.test(kept["name"]):
            assert hashlib.sha256(canonical(meant).encode()).hexdigest() == kept["digest"]


@case(24)
def test_a_start_records_that_digest(db: Door) -> None:
    kept = DIGESTS[2]
    answers = [db.start(input=sent, request_key="k1") for sent in kept["inputs"]]

    assert [answer.outcome for answer in answers] == ["started", "attached", "attached"]
    assert db.run(answers[0].run_id).request_digest == kept["digest"]


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
