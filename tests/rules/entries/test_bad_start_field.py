"""What is not of the form is refused by the name of its field, before anything is read."""

from typing import Any

import pytest

from tests.support.door import Door
from tests.support.proves import case, proves

ILL_FORMED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("requestKey", {"request_key": ""}),
    ("requestKey", {"request_key": "k" * 129}),
    ("requestKey", {"request_key": "k" * 3000}),
    ("requestKey", {"request_key": "two words"}),
    ("requestKey", {"request_key": "k\n"}),
    ("requestKey", {"request_key": "schlüssel"}),
    ("sessionId", {"session_id": ""}),
    ("sessionId", {"session_id": "s" * 257}),
    ("sessionId", {"session_id": None}),
    ("tenantId", {"tenant_id": "t" * 129}),
    ("tenantId", {"tenant_id": None}),
    ("agentType", {"agent_type": ""}),
    ("agentType", {"agent_type": "a" * 129}),
    ("agentType", {"agent_type": None}),
    ("userId", {"user_id": ""}),
    ("userId", {"user_id": "u" * 257}),
    ("parentSessionId", {"parent_session_id": ""}),
    ("parentSessionId", {"parent_session_id": "p" * 257}),
    ("rootSessionId", {"root_session_id": ""}),
    ("rootSessionId", {"root_session_id": "r" * 257}),
    ("metadata", {"metadata": {"a": 1}}),
    ("metadata", {"metadata": {"a": None}}),
    ("metadata", {"metadata": {"a": {"b": "c"}}}),
    ("metadata", {"metadata": "[]"}),
    ("metadata", {"metadata": "null"}),
    ("input", {"input": None}),
    ("input", {"input": "null"}),
    ("input", {"input": "[]"}),
    ("input", {"input": '"hi"'}),
    ("input", {"input": "1"}),
    ("input", {"input": {"message": "hi", "branch": "b"}}),
    ("input.message", {"input": {}}),
    ("input.message", {"input": {"message": ""}}),
    ("input.state", {"input": {"message": "hi", "state": [1]}}),
    ("input.state", {"input": {"message": "hi", "state": "on"}}),
    ("concurrentEntry", {"concurrent_entry": "queue"}),
    ("concurrentEntry", {"concurrent_entry": None}),
    ("expect", {"expect": {"currentRunId": None, "currentRunStatus": None}}),
    ("expect", {"expect": "[]"}),
    ("expect", {"expect": '"currentRunId"'}),
    ("expect", {"expect": "null"}),
)


@proves("start.invalid_request")
@case(48)
def test_what_is_not_of_the_form_is_named_and_not_repeated(
    db: Door, subtests: pytest.Subtests
) -> None:
    for field, given in ILL_FORMED:
        with subtests.test(field=field, given=str(given)[:60]):
            with db.nothing_written():
                answer = db.start(**{"session_id": "s1", **given})

            assert answer.outcome == "invalid_request"
            assert answer.detail == {"field": field}
            assert answer.run_id is None


@case(22)
def test_a_key_refused_with_an_ill_formed_request_stays_free(db: Door) -> None:
    assert db.start(request_key="k1", input={"message": 1}).outcome == "invalid_request"

    assert db.start(request_key="k1").outcome == "started"


@case(48)
def test_ids_and_keys_of_full_length_are_taken(db: Door) -> None:
    answer = db.start(
        "ü" * 256,
        agent_type="a" * 128,
        request_key="K.:_-9" + "k" * 122,
        user_id="u" * 256,
        tenant_id="t" * 128,
    )

    assert answer.outcome == "started"
