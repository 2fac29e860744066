"""Identity is fixed at creation: another value is refused by its field, an omitted one kept."""

from typing import Any

import pytest

from tests.support.door import Door
from tests.support.proves import proves


@proves("start.identity_mismatch")
@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("userId", {"user_id": "eve"}),
        ("tags", {"tags": ["a"]}),
        ("tags", {"tags": ["a", "b", "c"]}),
        ("tags", {"tags": []}),
        ("metadata", {"metadata": {}}),
        ("metadata", {"metadata": {"plan": "free"}}),
        ("parentSessionId", {"parent_session_id": "p2"}),
        ("rootSessionId", {"root_session_id": "r2"}),
    ],
)
def test_identity_is_fixed_at_creation(db: Door, field: str, other: dict[str, Any]) -> None:
    identity: dict[str, Any] = {
        "user_id": "ann",
        "tags": ["a", "b"],
        "metadata": {"plan": "pro"},
        "parent_session_id": "p1",
        "root_session_id": "r1",
    }
    db.finished(**identity)
    with db.nothing_written():
        answer = db.start(**{**identity, **other})

    assert (answer.outcome, answer.detail) == ("identity_mismatch", {"field": field})
    assert db.start(**{**identity, "tags": ["b", "a", "a"]}).outcome == "started"


def test_an_omitted_identity_is_kept_and_one_never_given_cannot_be_added(db: Door) -> None:
    db.finished("s1", user_id="ann", metadata={"plan": "pro"})
    db.finished("s2")

    assert db.start("s1").outcome == "started"
    assert db.session("s1").metadata == {"plan": "pro"}
    assert db.start("s2", user_id="ann").outcome == "identity_mismatch"
