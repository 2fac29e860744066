"""What can go wrong, as one tree, and the one place where an error becomes data.

LockgateError
  RuleBroken                  our own bug or a damaged row (SQLSTATE LG…); never retried or wrapped
  RunSuperseded               another drive owns the run; this one stops and writes nothing more
  EntryRefused                code, retryable, cause, field, run_id, detail, response
    RequestKeyConflict        run_id of the key's run
    RequestAlreadyCompleted   run_id of the key's run
    RunStartRejected          cause, one of the closed list
    AgentResolutionError      no such agent type, or its resolver raised
  StoreUnavailable            database weather; `committed` says what is known of the commit

An error is recognised by the name of its class and by its code, never by class identity: two copies
of this package must agree. HTTP numbers are not here; they live in `lockgate_api/answers.py`.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Self
from uuid import UUID

from lockgate.codes import AS_THEIR_CAUSE, CODES, ROUTE_CODES, RejectCause, category, reject_cause
from lockgate.failures import (
    MAX_CAUSE_DEPTH,
    Cause,
    ErrorDetail,
    FailureClass,
    classify_entry_failure,
    counts_as_retryable,
    error_detail,
    find_known,
    scrub_detail,
)

__all__ = [
    "CODES",
    "MAX_CAUSE_DEPTH",
    "ROUTE_CODES",
    "AgentResolutionError",
    "Cause",
    "EntryRefused",
    "ErrorDetail",
    "FailureClass",
    "LockgateError",
    "RejectCause",
    "RequestAlreadyCompleted",
    "RequestKeyConflict",
    "RuleBroken",
    "RunStartRejected",
    "RunSuperseded",
    "StoreUnavailable",
    "category",
    "classify_entry_failure",
    "counts_as_retryable",
    "error_detail",
    "find_known",
    "reject_cause",
    "scrub_detail",
]


class LockgateError(Exception):
    """Something went wrong in Lockgate."""

    code: str | None = None
    retryable: bool = False
    cause: Cause = None

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or type(self).__name__).split("\n")[0])


class RuleBroken(LockgateError):
    """A promise of the store is broken."""

    code = "framework_store_corrupt"

    def __init__(self, code: str, detail: Mapping[str, Any] | None = None) -> None:
        super().__init__(f"A promise of the store is broken ({code}).")
        self.sqlstate = code
        self.detail = dict(detail or {})


class RunSuperseded(LockgateError):
    """Another drive owns the run."""


class StoreUnavailable(LockgateError):
    """The database is not available."""

    code = "framework_store_unavailable"

    def __init__(self, message: str | None = None, *, committed: bool | None = False) -> None:
        """committed  False: nothing was; None: nobody knows, and a resend might append twice"""
        super().__init__(message)
        self.committed = committed
        self.retryable = committed is False


class EntryRefused(LockgateError):
    """The entry was refused."""

    def __init__(
        self,
        code: str,
        message: str | None = None,
        *,
        retryable: bool | None = None,
        cause: Cause = None,
        field: str | None = None,
        run_id: UUID | str | None = None,
        detail: Mapping[str, Any] | None = None,
        response: Any = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.cause = cause
        self.retryable = self._default() if retryable is None else retryable
        self.field = field
        self.run_id = None if run_id is None else str(run_id)
        self.detail = dict(detail or {})
        self.response = response

    def _default(self) -> bool:
        if self.code in AS_THEIR_CAUSE and isinstance(self.cause, BaseException):
            return counts_as_retryable(self.cause)
        return {**CODES, **ROUTE_CODES}.get(self.code or "", False)


class RequestKeyConflict(EntryRefused):
    """The request key was sent before with another request."""

    def __init__(self, run_id: UUID | str | None, message: str | None = None) -> None:
        super().__init__("state_request_key_conflict", message, run_id=run_id)


class RequestAlreadyCompleted(EntryRefused):
    """The request has run to its end and a later run exists."""

    def __init__(self, run_id: UUID | str | None, message: str | None = None) -> None:
        super().__init__("state_request_already_completed", message, run_id=run_id)


class RunStartRejected(EntryRefused):
    """The session changed before the run could start."""

    def __init__(self, cause: str, message: str | None = None) -> None:
        """cause  of the closed list, else ValueError; `reject_cause` parses a stranger's word"""
        super().__init__("state_run_start_conflict", message, cause=RejectCause(cause))


class AgentResolutionError(EntryRefused):
    """The agent could not be resolved."""

    def __init__(
        self,
        agent_type: str,
        cause: BaseException | None = None,
        *,
        code: str = "framework_agent_resolution_failed",
        message: str | None = None,
        available: Iterable[str] = (),
    ) -> None:
        super().__init__(code, message, cause=cause)
        self.agent_type = agent_type
        self.available_types = tuple(sorted(available))

    @classmethod
    def not_found(cls, agent_type: str, available: Iterable[str]) -> Self:
        """Name the types for our own code; the message, which travels, names none."""
        return cls(
            agent_type,
            code="framework_agent_not_found",
            message="There is no such agent type.",
            available=available,
        )
