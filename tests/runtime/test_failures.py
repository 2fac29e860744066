"""Failures: whether a retry can help, and what a drive makes of one."""

from itertools import pairwise
from uuid import UUID

import psycopg
import pytest

from lockgate.errors import (
    AgentResolutionError,
    EntryRefused,
    FailureClass,
    RequestAlreadyCompleted,
    RequestKeyConflict,
    RuleBroken,
    RunStartRejected,
    RunSuperseded,
    StoreUnavailable,
    classify_entry_failure,
    counts_as_retryable,
    find_known,
)

RUN_ID = UUID(int=7)


class RawFailure(Exception):
    """What a host's own code raises, with whatever attributes a test gives it."""

    def __init__(self, message: str = "raw", **attributes: object) -> None:
        super().__init__(message)
        self.__dict__.update(attributes)


def chained(*links: BaseException) -> BaseException:
    """Raise each from the next; the first is the outermost."""
    for outer, inner in pairwise(links):
        outer.__cause__ = inner
    return links[0]


class Stranger:
    """Errors of another copy of this package: same names and codes, other classes."""

    EntryRefused = type("EntryRefused", (RawFailure,), {})
    RunSuperseded = type("RunSuperseded", (Exception,), {})


CLASSES = [
    (RunSuperseded(), "lost"),
    (Stranger.RunSuperseded(), "lost"),
    (EntryRefused("state_already_running"), "lost"),
    (RunStartRejected("current_run_changed"), "lost"),
    (RunStartRejected("current_run_status_changed"), "lost"),
    (RunStartRejected("current_run_owned"), "lost"),
    (RunStartRejected("session_status_changed"), "lost"),
    (RunStartRejected("run_id_conflict"), "refused"),
    (RunStartRejected("request_key_taken"), "transient"),
    (RunStartRejected("finish_current_invalid"), "transient"),
    (EntryRefused("state_run_start_conflict", cause="free text"), "refused"),
    (EntryRefused("validation_error"), "refused"),
    (EntryRefused("state_session_not_found"), "refused"),
    (EntryRefused("state_not_resumable"), "refused"),
    (EntryRefused("state_not_resumable", retryable=True), "transient"),
    (EntryRefused("state_agent_type_mismatch"), "refused"),
    (RequestKeyConflict(RUN_ID), "refused"),
    (RequestAlreadyCompleted(RUN_ID), "refused"),
    (EntryRefused("framework_cancelled"), "refused"),
    (EntryRefused("framework_hook_failed", cause=EntryRefused("validation_error")), "refused"),
    (EntryRefused("framework_hook_failed"), "transient"),
    (AgentResolutionError("support", RawFailure(retryable=False)), "refused"),
    (AgentResolutionError("support", OSError()), "transient"),
    (AgentResolutionError.not_found("support", []), "fatal"),
    (EntryRefused("framework_not_supported"), "fatal"),
    (RuleBroken("LG001"), "fatal"),
    (RawFailure(sqlstate="LG004"), "fatal"),
    (EntryRefused("framework_hook_failed", cause=RuleBroken("LG001")), "fatal"),
    (StoreUnavailable(), "transient"),
    (StoreUnavailable(committed=None), "transient"),
    (psycopg.OperationalError("gone"), "transient"),
    (EntryRefused("framework_internal_error", retryable=False), "transient"),
    (OSError(), "transient"),
    (RawFailure(retryable=False), "refused"),
    (Stranger.EntryRefused(code="validation_error"), "refused"),
    (Stranger.EntryRefused(code="peer_busy", retryable=True), "transient"),
]


@pytest.mark.parametrize(("error", "expected"), CLASSES)
def test_a_failure_has_one_class_and_keeps_it_inside_another(
    error: BaseException, expected: str
) -> None:
    assert classify_entry_failure(error) == expected
    assert classify_entry_failure(chained(RuntimeError("outer"), OSError(), error)) == expected


def test_the_error_being_handled_is_found_unless_it_was_set_aside() -> None:
    outer = RuntimeError("while cleaning up")
    outer.__context__ = EntryRefused("validation_error")
    assert classify_entry_failure(outer) is FailureClass.REFUSED
    outer.__suppress_context__ = True
    assert classify_entry_failure(outer) is FailureClass.TRANSIENT
    assert counts_as_retryable(outer)


def test_a_failure_inside_a_group_or_a_circle_is_found() -> None:
    inner = StoreUnavailable()
    assert find_known(ExceptionGroup("tasks failed", [OSError(), inner])) is inner
    one, other = RawFailure("one"), RawFailure("other")
    chained(one, other, one)
    assert find_known(one) is None
    assert classify_entry_failure(one) is FailureClass.TRANSIENT


@pytest.mark.parametrize(
    ("cause", "retryable"),
    [
        (None, True),
        (OSError(), True),
        (EntryRefused("validation_error"), False),
        (RawFailure(retryable=False), False),
        (StoreUnavailable(), True),
    ],
)
def test_a_wrapper_is_as_retryable_as_its_cause(
    cause: BaseException | None, retryable: bool
) -> None:
    assert AgentResolutionError("support", cause).retryable is retryable
    assert EntryRefused("framework_hook_failed", cause=cause).retryable is retryable
