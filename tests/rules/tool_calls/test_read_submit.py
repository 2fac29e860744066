"""What an answer to a pending call must look like, to the limit of each of its parts."""

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.support.door import Door

RESULT = {"kind": "client-tool-result"}
DECISION = {"kind": "approval-response", "approvalId": "id", "approved": True}


def read(db: Door, answer: Any) -> Any:
    return db.row("select * from lockgate.read_submit(%s)", Jsonb(answer))


@pytest.mark.parametrize(
    ("answer", "response"),
    [
        ({**RESULT, "result": None}, {"success": True, "result": None}),
        ({**RESULT, "result": [1]}, {"success": True, "result": [1]}),
        ({**RESULT, "error": ""}, {"success": False, "error": ""}),
        (DECISION, None),
        ({**DECISION, "reason": "go"}, None),
        (
            {**DECISION, "approved": False, "reason": None},
            {"success": False, "denied": True, "error": "Denied"},
        ),
        (
            {**DECISION, "approved": False, "reason": "too dear"},
            {"success": False, "denied": True, "reason": "too dear", "error": "Denied: too dear"},
        ),
    ],
)
def test_an_answer_is_what_the_history_will_show(
    db: Door, answer: dict[str, Any], response: object
) -> None:
    read_answer = read(db, answer)

    assert (read_answer.bad_field, read_answer.response) == (None, response)
    assert (read_answer.kind, read_answer.approved) == (answer["kind"], answer.get("approved"))


@pytest.mark.parametrize(
    ("answer", "field"),
    [
        (1, "answer"),
        ([RESULT], "answer"),
        ({"kind": None, "result": 1}, "kind"),
        ({"kind": ["client-tool-result"], "result": 1}, "kind"),
        ({"result": 1}, "kind"),
        ({**RESULT, "result": "x" * (1024 * 1024)}, "result"),
        ({**RESULT, "error": "x" * 8193}, "error"),
        ({**RESULT, "error": "é" * 4097}, "error"),
        ({**RESULT, "error": {"message": "no"}}, "error"),
        ({**RESULT, "result": 1, "approved": True}, "answer"),
        ({**RESULT, "result": 1, "toolCallId": "pick-1"}, "answer"),
        ({**DECISION, "result": 1}, "answer"),
        ({**DECISION, "approvalId": 7}, "approvalId"),
        ({**DECISION, "approvalId": None}, "approvalId"),
        ({**DECISION, "approvalId": "x" * 257}, "approvalId"),
        ({**DECISION, "approved": "true"}, "approved"),
        ({**DECISION, "approved": None}, "approved"),
        ({**DECISION, "approved": 1}, "approved"),
        ({**DECISION, "reason": 1}, "reason"),
        ({**DECISION, "reason": ["x"]}, "reason"),
        ({**DECISION, "reason": "x" * 8193}, "reason"),
    ],
)
def test_the_first_field_that_is_not_of_the_form_is_named(
    db: Door, answer: Any, field: str
) -> None:
    refused = read(db, answer)

    assert (refused.bad_field, refused.response, refused.approved) == (field, None, None)


def test_what_is_just_small_enough_is_taken(db: Door) -> None:
    for answer in (
        {**RESULT, "result": "x" * (1024 * 1024 - 64)},
        {**RESULT, "error": "x" * 8192},
        {**DECISION, "approvalId": "x" * 256, "reason": "x" * 8192},
    ):
        assert read(db, answer).bad_field is None
