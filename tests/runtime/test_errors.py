"""Errors: the tree, its codes, and what becomes of an error as data."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any
from uuid import UUID

import psycopg
import pytest
import sqlalchemy.exc

from lockgate import errors, failures
from lockgate.errors import (
    CODES,
    AgentResolutionError,
    EntryRefused,
    LockgateError,
    RejectCause,
    RequestAlreadyCompleted,
    RequestKeyConflict,
    RuleBroken,
    RunStartRejected,
    StoreUnavailable,
    error_detail,
    reject_cause,
    scrub_detail,
)
from lockgate.scrub import MODEL_LIMIT

RUN_ID = UUID(int=7)
SECRETS = (
    "postgres://app:p%40ss/w:rd@10.0.0.5/db host=db password='a b' "
    "Authorization: Bearer abc.def.ghi /srv/app/x.py <b>\x00"
)
LEAKS = ["p%40ss", "w:rd", "10.0.0.5", "a b", "abc.def", "/srv", "<", ">", "\x00"]


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


def levels(detail: Mapping[str, Any]) -> list[Any]:
    found: list[Any] = [detail]
    while isinstance(found[-1], Mapping) and "cause" in found[-1]:
        found.append(found[-1]["cause"])
    return found


def a_database_error() -> psycopg.Error:
    return psycopg.errors.UniqueViolation('Key (email)=(ann@example.com) on host "db1" exists')


def names_of(kind: type[BaseException]) -> set[str]:
    return {kind.__name__}.union(*(names_of(below) for below in kind.__subclasses__()))


def test_the_names_are_the_tree() -> None:
    ours = {name for name in names_of(LockgateError) if hasattr(errors, name)}
    assert ours == failures.OUR_NAMES
    assert all(name in (errors.__doc__ or "") for name in ours)


def test_every_code_has_its_form() -> None:
    assert all(code == code.lower() and "_" in code for code in CODES)


@pytest.mark.parametrize(
    ("error", "detail"),
    [
        (ValueError("no"), {"message": "no"}),
        (TimeoutError(), {"message": "TimeoutError"}),
        (RawFailure("no", code="E42"), {"message": "no"}),
        (RawFailure("no", code=42, retryable="yes"), {"message": "no"}),
        (RawFailure("no", retryable=False), {"message": "no", "retryable": False}),
        (
            RawFailure("slow", code="provider_rate_limited"),
            {
                "message": "slow",
                "code": "provider_rate_limited",
                "category": "provider",
                "retryable": True,
            },
        ),
        (
            EntryRefused("framework_cancelled", "the caller left"),
            {
                "message": "the caller left",
                "code": "framework_cancelled",
                "category": "framework",
                "retryable": False,
            },
        ),
        (
            RunStartRejected("current_run_owned"),
            {
                "message": "The session changed before the run could start.",
                "code": "state_run_start_conflict",
                "category": "state",
                "retryable": False,
                "cause": "current_run_owned",
            },
        ),
        (EntryRefused("no such form!", "no"), {"message": "no", "retryable": False}),
        (EntryRefused("x" * 65, "no"), {"message": "no", "retryable": False}),
        (
            EntryRefused("peer.code", "no", retryable=True),
            {"message": "no", "code": "peer.code", "category": "peer.code", "retryable": True},
        ),
    ],
)
def test_an_error_becomes_what_is_known_of_it(
    error: BaseException, detail: dict[str, object]
) -> None:
    assert error_detail(error) == detail


def test_every_level_of_a_chain_is_scrubbed_and_keeps_its_code() -> None:
    error = chained(
        EntryRefused("framework_hook_failed", SECRETS),
        RawFailure(SECRETS, retryable=True),
        EntryRefused("provider_error", SECRETS, cause=SECRETS),
    )
    found = levels(error_detail(error))
    assert [level.get("code") for level in found[:3]] == [
        "framework_hook_failed",
        None,
        "provider_error",
    ]
    assert len(found) == 4
    assert not [leak for leak in LEAKS if leak in str(found)]


def test_causes_deeper_than_eight_are_cut() -> None:
    deep = chained(*(RawFailure(f"level {level}") for level in range(12)))
    found = levels(error_detail(deep))
    assert [level["message"] for level in found] == [f"level {level}" for level in range(9)]
    assert levels(scrub_detail(error_detail(deep))) == found


def test_a_circle_of_causes_ends() -> None:
    one, other = RawFailure("one"), RawFailure("other")
    chained(one, other, one)
    assert len(levels(error_detail(one))) == 9


def test_the_only_error_of_a_group_is_its_cause() -> None:
    group = ExceptionGroup("tasks failed", [StoreUnavailable()])
    assert error_detail(group)["cause"]["code"] == "framework_store_unavailable"


def test_the_text_of_a_database_driver_is_never_used() -> None:
    driver = a_database_error()
    wrapped = sqlalchemy.exc.DBAPIError("select secret", {"p": "ann@example.com"}, driver)
    quoting = chained(RuntimeError(f"lookup failed: {driver}"), driver)
    assert error_detail(driver) == {"message": "Database error (SQLSTATE 23505)"}
    assert error_detail(chained(wrapped, driver)) == {"message": "Database error (SQLSTATE 23505)"}
    assert error_detail(psycopg.OperationalError("host db1")) == {"message": "Database error"}
    assert error_detail(sqlalchemy.exc.ArgumentError("db1")) == {"message": "Database error"}
    assert error_detail(RawFailure("db1", sqlstate="08006", retryable=True)) == {
        "message": "Database error (SQLSTATE 08006)",
        "retryable": True,
    }
    assert error_detail(quoting) == {
        "message": "lookup failed: Database error (SQLSTATE 23505)",
        "cause": {"message": "Database error (SQLSTATE 23505)"},
    }


def test_an_error_that_cannot_speak_is_told_by_its_name() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert error_detail(Mute()) == {"message": "Mute"}


def test_the_model_reads_a_longer_text_than_a_client() -> None:
    error = ValueError("word " * 1_000)
    assert len(error_detail(error)["message"]) == 256
    assert error_detail(error, MODEL_LIMIT)["message"] == "word " * 1_000


def test_a_detail_from_elsewhere_is_made_safe() -> None:
    foreign = {
        "message": SECRETS,
        "code": "state_not_resumable",
        "retryable": True,
        "stack": SECRETS,
        "cause": {"message": "inner", "code": "<script>", "category": "state", "cause": SECRETS},
    }
    safe = scrub_detail(foreign)
    assert safe["code"] == "state_not_resumable"
    assert safe["category"] == "state"
    assert safe["retryable"] is True
    assert set(safe["cause"]) == {"message", "category", "cause"}
    assert set(safe) == {"message", "code", "category", "retryable", "cause"}
    assert not [leak for leak in LEAKS if leak in str(safe)]
    assert scrub_detail(safe) == safe
    assert scrub_detail({"cause": 7}) == {"message": ""}


def test_the_refusals_of_a_key_name_its_run() -> None:
    for error in (RequestKeyConflict(RUN_ID), RequestAlreadyCompleted(RUN_ID)):
        assert error.run_id == str(RUN_ID)
        assert error.retryable is False
        assert str(error).startswith("The request")


def test_a_broken_rule_tells_its_sqlstate_and_keeps_its_detail_to_us() -> None:
    error = RuleBroken("LG001", {"sessionId": "s1"})
    assert (error.sqlstate, error.detail) == ("LG001", {"sessionId": "s1"})
    assert error_detail(error) == {
        "message": "A promise of the store is broken (LG001).",
        "code": "framework_store_corrupt",
        "category": "framework",
        "retryable": False,
    }


def test_an_unknown_agent_type_is_named_to_us_and_not_to_others() -> None:
    error = AgentResolutionError.not_found("spy", ["b", "a"])
    assert (error.agent_type, error.available_types) == ("spy", ("a", "b"))
    assert (error.code, error.retryable) == ("framework_agent_not_found", False)
    assert "spy" not in str(error_detail(error))


def test_only_a_known_reject_cause_is_one() -> None:
    assert reject_cause("request_key_taken") is RejectCause.REQUEST_KEY_TAKEN
    assert reject_cause("free text") is None
    assert reject_cause({}) is None
    with pytest.raises(ValueError, match="free text"):
        RunStartRejected("free text")


def test_an_unknown_commit_is_not_worth_a_resend() -> None:
    assert StoreUnavailable().retryable is True
    assert StoreUnavailable(committed=None).retryable is False
    assert StoreUnavailable(committed=True).retryable is False
