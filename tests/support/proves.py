"""Which promise a test holds: an outcome label, or a case of the collection of real bug reports.

The decorators change nothing. tests/tidy/test_proofs.py reads them, and fails for a label that no
test proves.
"""

from collections.abc import Callable
from typing import Any, TypeVar

Test = TypeVar("Test", bound=Callable[..., Any])


def proves(*labels: str) -> Callable[[Test], Test]:
    """Say which labels a test proves, each as `function.label` or `enum.label`."""
    return _unchanged


def case(*numbers: int) -> Callable[[Test], Test]:
    """Say which cases of `cases/shared.md` a test is, by number."""
    return _unchanged


def _unchanged(test: Test) -> Test:
    return test
