"""What of a store client's run start is not of the form: the field is named, nothing is written."""

from typing import Any
from uuid import uuid4

import pytest
from psycopg.types.json import Jsonb

from tests.support.door import Door
from tests.support.proves import proves
from tests.support.store_client import StoreClient

ILL_FORMED: list[tuple[dict[str, Any], str]] = [
    ({"request_key": "two words", "request_digest": "d"}, "requestKey"),
    ({"request_key": "k1"}, "requestDigest"),
    ({"request_digest": "d1"}, "requestDigest"),
    ({"request_key": "k1", "request_digest": ""}, "requestDigest"),
    ({"request_key": "k1", "request_digest": "d" * 129}, "requestDigest"),
    ({"session_id": None}, "sessionId"),
    ({"session_id": ""}, "sessionId"),
    ({"tenant_id": None}, "tenantId"),
    ({"run_id": None}, "runId"),
    ({"drive": None}, "drive"),
    ({"drive": "recover"}, "drive"),
    ({"session_status": None}, "sessionStatus"),
    ({"session_status": "completed"}, "sessionStatus"),
    ({"expect": None}, "expect"),
    ({"expect": {}}, "expect"),
    ({"expect": {"currentRunId": None, "currentRunStatus": None}}, "expect"),
    ({"expect": '["currentRunId", "currentRunStatus", "sessionStatus"]'}, "expect"),
    ({"messages": "5"}, "messages"),
    ({"messages": '[{"role": "assistant", "content": "hi"}]'}, "messages"),
    ({"messages": '[{"role": "user", "content": ""}]'}, "messages"),
    ({"state": "[]"}, "state"),
    ({"drive": "resume", "keep_messages": -1}, "keepMessages"),
    ({"drive": "start", "keep_messages": 0}, "keepMessages"),
    ({"drive": "continue", "keep_messages": 0}, "keepMessages"),
    ({"finish_current": {}}, "finishCurrent"),
    ({"finish_current": "[]"}, "finishCurrent"),
    ({"finish_current": "null"}, "finishCurrent"),
    ({"finish_current": {"runId": "x", "status": "superseded"}}, "finishCurrent"),
    ({"finish_current": {"runId": "x", "status": "failed", "more": 1}}, "finishCurrent"),
    ({"finish_current": {"runId": None, "status": None}}, "finishCurrent"),
]


@proves("entry_outcome.invalid_request")
@pytest.mark.parametrize(("wrong", "field"), ILL_FORMED)
def test_what_is_not_of_the_form_is_named_and_not_repeated(
    db: Door, wrong: dict[str, Any], field: str
) -> None:
    db.finished()
    asked = {
        "session_id": "s1",
        "run_id": uuid4(),
        "drive": "start",
        "session_status": "active",
        "expect": StoreClient(db).plan(),
        **wrong,
    }
    with db.nothing_written():
        answer = db.call("commit_run_start", **asked)

    assert (answer.outcome, answer.detail) == ("invalid_request", {"field": field})


@pytest.mark.parametrize(
    "unsaid",
    ["messages", "keep_messages", "state", "request_key", "finish_current", "displace_owner"],
)
def test_what_may_be_left_out_may_be_null(db: Door, unsaid: str) -> None:
    db.finished()

    assert StoreClient(db).start(**{unsaid: None}).outcome == "started"


def test_a_thousand_messages_are_a_start_and_one_more_is_none(db: Door) -> None:
    db.create_session()
    client = StoreClient(db)
    said = [{"role": "user", "content": "a"}] * 1001
    with db.nothing_written():
        refusal = client.start(messages=Jsonb(said))
    client.start(messages=Jsonb(said[1:]))

    assert refusal.detail == {"field": "messages"}
    assert db.session().message_count == 1000
