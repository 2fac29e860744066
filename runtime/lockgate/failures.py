"""The one place where an error becomes data, and where one is recognised and classified.

It asks an error for its class's name, its code and its flags, never for its class: two copies of
this package must agree, and no database driver is imported to know its errors. Others import this
from `errors.py`, whose tree stands above.
"""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, TypeAlias

from lockgate.codes import CODES, RejectCause, category, reject_cause
from lockgate.scrub import CLIENT_LIMIT, scrub

Cause: TypeAlias = BaseException | Mapping[str, Any] | str | None

# `{ message, code?, category?, retryable?, cause? }`; a cause is a text or another of these.
ErrorDetail: TypeAlias = dict[str, Any]

MAX_CAUSE_DEPTH = 8  # causes kept below an error: the guide's number, on every wire
_MAX_CHAIN = 64  # errors looked at to find a known one: a chain may be long, or a circle

_STORE_CORRUPT = "framework_store_corrupt"
_CODE_FORM = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_SQLSTATE_FORM = re.compile(r"[0-9A-Z]{5}")

# The tree of `errors.py` by name. test_errors.py::test_the_names_are_the_tree holds them together.
OUR_NAMES = frozenset(
    {
        "LockgateError",
        "RuleBroken",
        "RunSuperseded",
        "StoreUnavailable",
        "EntryRefused",
        "RequestKeyConflict",
        "RequestAlreadyCompleted",
        "RunStartRejected",
        "AgentResolutionError",
    }
)
_LOST_NAMES = frozenset({"RunSuperseded"})


class FailureClass(StrEnum):
    """What a failure means for a drive."""

    LOST = "lost"  # another drive owns the run: leave it alone
    REFUSED = "refused"  # a typed answer that stands: the run ends failed with it
    TRANSIENT = "transient"  # the run is handed over and tried again, within its budget
    FATAL = "fatal"  # as refused, for what no other request could cure either


_CLASS_OF_CODE = {
    "state_already_running": FailureClass.LOST,
    _STORE_CORRUPT: FailureClass.FATAL,
    "framework_agent_not_found": FailureClass.FATAL,
    "framework_not_supported": FailureClass.FATAL,
    # Their flag speaks of a resend; the drive itself only ever goes on from what is committed.
    "framework_store_unavailable": FailureClass.TRANSIENT,
    "framework_internal_error": FailureClass.TRANSIENT,
}

_CLASS_OF_CAUSE = {
    RejectCause.RUN_ID_CONFLICT: FailureClass.REFUSED,
    RejectCause.REQUEST_KEY_TAKEN: FailureClass.TRANSIENT,
    RejectCause.FINISH_CURRENT_INVALID: FailureClass.TRANSIENT,
}


def error_detail(error: BaseException, limit: int = CLIENT_LIMIT) -> ErrorDetail:
    """Turn an error into data that may be stored and shown.

    limit   characters of each text; `MODEL_LIMIT` for the result that the model reads
    Result  `{ message }` alone for an error that nothing recognises and that says nothing more
    Source  reference/state.md 1.4, reference/http.md 5
    """
    return scrub_detail(_described(error, MAX_CAUSE_DEPTH), limit)


def scrub_detail(detail: Mapping[str, Any], limit: int = CLIENT_LIMIT) -> ErrorDetail:
    """Make an ErrorDetail that came from elsewhere as safe as one of our own."""
    return _scrubbed(detail, limit, MAX_CAUSE_DEPTH)


def find_known(error: BaseException) -> BaseException | None:
    """Find the error that decides: a permanent store error anywhere, else the outermost known."""
    known = [found for found in _chain(error) if _is_known(found)]
    broken = (found for found in known if _known_code(found) == _STORE_CORRUPT)
    return next(broken, known[0] if known else None)


def counts_as_retryable(error: BaseException) -> bool:
    """Ask the known error inside, else whichever says so itself; what nobody knows is retryable."""
    known = find_known(error)
    if known is not None:
        return bool(_retryable(known))
    flags = (_retryable(found) for found in _chain(error))
    return next((flag for flag in flags if flag is not None), True)


def classify_entry_failure(error: BaseException) -> FailureClass:
    """Say what a drive does about a failure. Source: reference/state.md 7.1."""
    known = find_known(error)
    code = None if known is None else _known_code(known)
    if known is not None and code is None:
        return FailureClass.LOST
    if code == "state_run_start_conflict":
        cause = reject_cause(getattr(known, "cause", None))
        if cause is not None:
            return _CLASS_OF_CAUSE.get(cause, FailureClass.LOST)
    if code in _CLASS_OF_CODE:
        return _CLASS_OF_CODE[code]
    return FailureClass.TRANSIENT if counts_as_retryable(error) else FailureClass.REFUSED


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Walk an error and what it was raised from, nearest first, each once."""
    waiting: list[object] = [error]
    seen: set[int] = set()
    while waiting and len(seen) < _MAX_CHAIN:
        found = waiting.pop(0)
        if not isinstance(found, BaseException) or id(found) in seen:
            continue
        seen.add(id(found))
        yield found
        waiting += (getattr(found, "cause", None), found.__cause__)
        if not found.__suppress_context__:
            waiting.append(found.__context__)
        if isinstance(found, BaseExceptionGroup):
            waiting += found.exceptions


def _is_named(error: BaseException, names: frozenset[str]) -> bool:
    return any(kind.__name__ in names for kind in type(error).__mro__)


def _known_code(error: BaseException) -> str | None:
    code = getattr(error, "code", None)
    if isinstance(code, str) and (
        code in CODES or (_is_named(error, OUR_NAMES) and _CODE_FORM.fullmatch(code))
    ):
        return str(code)
    # Our own SQLSTATE class, met before the rules' door has given it its type.
    return _STORE_CORRUPT if (_sqlstate(error) or "").startswith("LG") else None


def _is_known(error: BaseException) -> bool:
    return _known_code(error) is not None or _is_named(error, _LOST_NAMES)


def _retryable(error: BaseException) -> bool | None:
    flag = getattr(error, "retryable", None)
    if isinstance(flag, bool):
        return flag
    code = _known_code(error)
    return None if code is None else CODES.get(code, False)


def _sqlstate(error: BaseException) -> str | None:
    for source in (error, getattr(error, "orig", None)):
        state = getattr(source, "sqlstate", None)
        if isinstance(state, str) and _SQLSTATE_FORM.fullmatch(state):
            return state
    return None


def _database_message(error: BaseException) -> str | None:
    """Word a driver's error for it: its own text holds SQL, parameters and hosts."""
    modules = (kind.__module__.partition(".")[0] for kind in type(error).__mro__)
    if _is_named(error, OUR_NAMES) or not (
        hasattr(error, "sqlstate") or any(m.startswith(("psycopg", "sqlalchemy")) for m in modules)
    ):
        return None
    state = _sqlstate(error)
    return f"Database error (SQLSTATE {state})" if state else "Database error"


def _message(error: BaseException) -> str:
    text = _text(error)
    # Who wraps a driver's error likes to quote it.
    for found in _chain(error):
        told = _database_message(found)
        if told is not None:
            text = told if found is error else text.replace(_text(found), told)
    return text


def _text(error: BaseException) -> str:
    try:
        return str(error) or type(error).__name__
    except Exception:  # noqa: BLE001 - telling of an error must not fail, whatever its class does.
        return type(error).__name__


def _scrubbed(detail: Mapping[str, Any], limit: int, depth: int) -> ErrorDetail:
    safe: ErrorDetail = {"message": scrub(str(detail.get("message", "")), limit)}
    code, family, retryable = (detail.get(name) for name in ("code", "category", "retryable"))
    if isinstance(code, str) and _CODE_FORM.fullmatch(code):
        safe["code"], safe["category"] = str(code), category(code)
    if isinstance(family, str) and _CODE_FORM.fullmatch(family):
        safe["category"] = str(family)
    if isinstance(retryable, bool):
        safe["retryable"] = retryable
    cause = detail.get("cause")
    if isinstance(cause, str) and depth:
        safe["cause"] = scrub(str(cause), limit)
    if isinstance(cause, Mapping) and depth:
        safe["cause"] = _scrubbed(cause, limit, depth - 1)
    return safe


def _described(error: BaseException, depth: int) -> ErrorDetail:
    cause = _cause(error)
    if isinstance(cause, BaseException):
        cause = _described(cause, depth - 1) if depth else None
    return {
        "message": _message(error),
        "code": _known_code(error),
        "retryable": _retryable(error),
        "cause": cause,
    }


def _cause(error: BaseException) -> Cause:
    if _database_message(error) is not None:
        return None
    is_typed = _is_known(error) or _is_named(error, OUR_NAMES)
    typed: Cause = getattr(error, "cause", None) if is_typed else None
    if typed is None and error.__cause__ is None and isinstance(error, BaseExceptionGroup):
        return error.exceptions[0]
    return error.__cause__ if typed is None else typed
