"""The closed lists of error codes and reject causes: one line each, with what a retry can do.

A code means the same in SQL, in stored rows, on the wire and in another copy of this package. Its
HTTP number is not here but in `lockgate_api/answers.py`. Others import these from `errors.py`.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

# Whether a retry before the commit can help. After the commit nothing is retryable.
CODES: Mapping[str, bool] = MappingProxyType(
    {
        "validation_error": False,
        "framework_agent_not_found": False,
        "framework_agent_resolution_failed": True,  # unless its cause is not
        "framework_usage_store_unavailable": True,
        "framework_hook_failed": True,  # unless its cause is not
        "framework_not_supported": False,
        "framework_cancelled": False,
        "framework_auto_resume_exhausted": True,
        "framework_internal_error": True,
        "framework_store_unavailable": True,  # unless the commit's outcome is unknown
        "framework_store_corrupt": False,
        "framework_subagent_lost": False,
        "framework_completion_schema_unsupported": False,
        "state_already_running": True,
        "state_run_start_conflict": False,
        "state_not_resumable": False,  # but while calls or children are awaited or unannounced
        "state_session_not_found": False,
        "state_agent_type_mismatch": False,
        "state_history_incomplete": True,
        "state_request_already_completed": False,
        "state_request_key_conflict": False,
        "state_concurrency_conflict": True,
        "transport_error": True,  # as a 503; as a 500 the input is committed
        "stream_failed": False,
        "provider_rate_limited": True,
        "provider_error": True,  # unless the provider says otherwise
        "tool_execution_failed": False,
    }
)

# A wrapper of someone else's failure is worth a retry when that failure is.
AS_THEIR_CAUSE = frozenset({"framework_agent_resolution_failed", "framework_hook_failed"})

# Codes of routes and of the remote protocol. Other libraries use the same words, so these alone do
# not make an error a known one.
ROUTE_CODES: Mapping[str, bool] = MappingProxyType(
    {
        "NOT_FOUND": False,
        "ALREADY_RUNNING": True,
        "ALREADY_COMPLETED": False,
        "INVALID_REQUEST": False,
        "INTERNAL_ERROR": False,  # but as its errorCode says
        "INVALID_RESULT": False,
        "unknown_tool_call": False,
        "invalid_payload": False,
        "FEATURE_UNAVAILABLE": False,
        "UNAUTHORIZED": False,
        "FORBIDDEN": False,
        "RATE_LIMITED": True,
        "TRUNCATED": False,
    }
)


class RejectCause(StrEnum):
    """Why a run-start commit refused: the closed list."""

    RUN_ID_CONFLICT = "run_id_conflict"
    REQUEST_KEY_TAKEN = "request_key_taken"
    CURRENT_RUN_CHANGED = "current_run_changed"
    CURRENT_RUN_STATUS_CHANGED = "current_run_status_changed"
    FINISH_CURRENT_INVALID = "finish_current_invalid"
    CURRENT_RUN_OWNED = "current_run_owned"
    SESSION_STATUS_CHANGED = "session_status_changed"


class SubmitCause(StrEnum):
    """Why a submit met a call that takes no answer, `state_not_resumable`: the closed list."""

    NOT_PENDING_YET = "not_pending_yet"
    RUN_ENDED = "run_ended"


def category(code: str) -> str:
    """Take the family of a code: its prefix up to the first underscore."""
    return code.partition("_")[0]


def reject_cause(text: object) -> RejectCause | None:
    """Parse a stranger's word; one outside the closed list is none, and is not sent on."""
    return next((cause for cause in RejectCause if cause == text), None)


def submit_cause(text: object) -> SubmitCause | None:
    """Parse a stranger's word, as reject_cause does."""
    return next((cause for cause in SubmitCause if cause == text), None)
