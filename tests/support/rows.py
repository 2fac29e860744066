"""Which row of the answers table a test holds: reference/http.md 12, by the row's number.

The decorator changes nothing. tests/api/test_rows.py reads it, and fails for a row of the routes
that exist which no test holds and which is not excused below.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

Test = TypeVar("Test", bound=Callable[..., Any])


def row(*numbers: str) -> Callable[[Test], Test]:
    """Say which rows of the answers table a test holds, as `E1`."""
    return _unchanged


def _unchanged(test: Test) -> Test:
    return test


def _numbered(letter: str, last: int, first: int = 1) -> tuple[str, ...]:
    return tuple(f"{letter}{number}" for number in range(first, last + 1))


# Every route; request keys; start and POST /sessions; resume; retry; submits; stops; status,
# snapshot and usage; sse.
ROWS = (
    *_numbered("A", 16),
    *_numbered("Q", 14),
    *_numbered("E", 38),
    *_numbered("R", 13),
    *_numbered("T", 8),
    *_numbered("U", 24),
    *_numbered("I", 8),
    *_numbered("G", 8),
    *_numbered("W", 14, first=5),
)

NOT_DUE: Mapping[str, str] = MappingProxyType(
    {
        "A10": "nothing of an entry or a submit runs after its commit; chat will",
        "E11": "there is no transform_request yet",
        "E12": "there is no transform_request yet",
        "E13": "there is no transform_request yet",
        "E20": "each host has the store, and so a place for children",
        "E28": "after_entry runs in the worker, held by the drives' tests; no transform_response",
        "E29": "nothing of an entry runs after its commit",
    }
)
