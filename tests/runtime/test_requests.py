"""Requests as values: what each tells its rule, and what it tells the host."""

from typing import Any

import pytest

from lockgate import (
    Continue,
    EntryRefused,
    FromCheckpoint,
    Resume,
    Retry,
    Start,
    WithMessage,
    parse_request_key,
)
from lockgate.requests import parse_resume_options

SAID = [{"role": "user", "content": "go on"}]


@pytest.mark.parametrize(
    "options", [Continue(), WithMessage("go on"), WithMessage(SAID), FromCheckpoint("r:1")]
)
def test_options_are_read_as_they_are_written(options: Any) -> None:
    assert parse_resume_options(options.wire()) == options
    assert parse_resume_options(options) is options


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"mode": None},
        {"mode": "retry"},
        {"mode": "continue", "checkpointId": "c"},
        {"mode": "with_message"},
        {"mode": "with_message", "message": "go on", "state": {}},
        {"mode": "from_checkpoint", "checkpointId": 7},
        {"mode": "from_checkpoint", "checkpoint_id": "c"},
    ],
)
def test_options_of_no_shape_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(EntryRefused) as refused:
        parse_resume_options(options)
    assert (refused.value.code, refused.value.field) == ("validation_error", "options")
    assert refused.value.retryable is False


def test_an_approval_is_no_resume() -> None:
    with pytest.raises(EntryRefused) as refused:
        parse_resume_options({"mode": "with_confirmation", "approved": True})
    assert (refused.value.code, refused.value.retryable) == ("framework_not_supported", False)


def test_a_rule_is_given_json_and_what_was_left_out_is_null() -> None:
    assert Resume("s1", "support").arguments() == {"options": '{"mode":"continue"}'}
    assert Resume("s1", "support", WithMessage(SAID)).arguments() == {
        "options": '{"mode":"with_message","message":[{"role":"user","content":"go on"}]}'
    }
    assert Retry("s1", "support").arguments() == {"checkpoint_id": None, "message": None}
    assert Retry("s1", "support", "r:1", "again").arguments() == {
        "checkpoint_id": "r:1",
        "message": '"again"',
    }
    start = Start("s1", "support", "hi", state={"n": 1}, metadata={"k": "v"}, tags=["a"])
    assert start.arguments()["input"] == '{"message":"hi","state":{"n":1}}'
    assert start.arguments()["metadata"] == '{"k":"v"}'
    assert start.identity()["tags"] == ["a"]


def test_the_host_is_told_what_its_drive_brings() -> None:
    assert Start("s1", "support", "hi", user_id="ann").told() == {
        "body": {"agentType": "support", "input": {"message": "hi"}, "userId": "ann"}
    }
    assert Resume("s1", "support", WithMessage("go on")).told() == {"options": WithMessage("go on")}
    assert Retry("s1", "support", "r:1", "again").told() == {
        "checkpoint_id": "r:1",
        "message": "again",
    }


@pytest.mark.parametrize("key", [None, 7, "", "k" * 129, "a b", "k1\n"])
def test_a_key_that_is_none_is_refused_and_not_repeated(key: object) -> None:
    with pytest.raises(EntryRefused) as refused:
        parse_request_key(key)
    assert (refused.value.code, refused.value.field) == ("validation_error", "requestKey")
    assert not key or repr(key)[:9] not in str(refused.value)
