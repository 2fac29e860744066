"""What of a resume is not of the form: the field is named, its value is not, nothing is written."""

from typing import Any

import pytest

from tests.support import standings
from tests.support.door import Door

CONTINUE = {"mode": "continue"}

ILL_FORMED: list[tuple[dict[str, Any], str]] = [
    ({"options": None}, "options"),
    ({"options": "[]"}, "options"),
    ({"options": '"continue"'}, "options"),
    ({"options": {}}, "options.mode"),
    ({"options": {"mode": None}}, "options.mode"),
    ({"options": {"mode": ["continue"]}}, "options.mode"),
    ({"options": {"mode": "with_confirmation"}}, "options.mode"),
    ({"options": {"mode": "continue", "message": "hi"}}, "options"),
    ({"options": {"mode": "continue", "checkpointId": None}}, "options"),
    ({"options": {"mode": "with_message"}}, "options.message"),
    ({"options": {"mode": "with_message", "message": None}}, "options.message"),
    ({"options": {"mode": "with_message", "message": ""}}, "options.message"),
    ({"options": {"mode": "with_message", "message": {"role": "user"}}}, "options.message"),
    ({"options": {"mode": "with_message", "message": "a", "checkpointId": "b"}}, "options"),
    ({"options": {"mode": "from_checkpoint"}}, "options.checkpointId"),
    ({"options": {"mode": "from_checkpoint", "checkpointId": ""}}, "options.checkpointId"),
    ({"options": {"mode": "from_checkpoint", "checkpointId": 7}}, "options.checkpointId"),
    ({"options": {"mode": "from_checkpoint", "checkpointId": {}}}, "options.checkpointId"),
    ({"options": {"mode": "from_checkpoint", "checkpointId": "x" * 257}}, "options.checkpointId"),
    ({"request_key": ""}, "requestKey"),
    ({"request_key": "two words"}, "requestKey"),
    ({"session_id": None}, "sessionId"),
    ({"session_id": ""}, "sessionId"),
    ({"tenant_id": None}, "tenantId"),
    ({"agent_type": None}, "agentType"),
    ({"agent_type": "a" * 129}, "agentType"),
    ({"concurrent_entry": None}, "concurrentEntry"),
    ({"concurrent_entry": "queue"}, "concurrentEntry"),
    ({"expect": {"currentRunId": None}}, "expect"),
    ({"expect": '["currentRunId", "currentRunStatus", "sessionStatus"]'}, "expect"),
]


@pytest.mark.parametrize(("wrong", "field"), ILL_FORMED)
def test_what_is_not_of_the_form_is_named_and_not_repeated(
    db: Door, wrong: dict[str, Any], field: str
) -> None:
    standings.interrupted(db)
    asked = {"session_id": "s1", "agent_type": "support", "options": CONTINUE, **wrong}
    with db.nothing_written():
        for function in ("resume", "plan_resume"):
            answer = db.call(function, **asked)

            assert (answer.outcome, answer.detail) == ("invalid_request", {"field": field})


@pytest.mark.parametrize(
    "unsaid",
    ["request_key", "concurrent_entry_timeout_ms", "run_id", "expect", "dispatch_limit_ms"],
)
def test_what_may_be_left_out_may_be_null(db: Door, unsaid: str) -> None:
    standings.interrupted(db)
    given: dict[str, Any] = {unsaid: None}

    assert db.resume(**given).outcome == "resumed"


def test_a_message_of_a_thousand_messages_is_taken_and_one_more_is_not(db: Door) -> None:
    standings.interrupted(db)
    said = [{"role": "user", "content": "a"}] * 1001
    with db.nothing_written():
        refused = db.resume(options={"mode": "with_message", "message": said})
    taken = db.resume(options={"mode": "with_message", "message": said[1:]})

    assert refused.detail == {"field": "options.message"}
    assert (taken.outcome, db.session().message_count) == ("resumed", 1003)
