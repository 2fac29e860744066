"""A fault at the n-th statement or commit, so that a test can break each of them in its turn.

A test counts n up until no fault is hit any more: then everything that was said has been broken
once, before the server heard it or after it was done.
"""

from dataclasses import dataclass
from typing import TypeAlias

from tests.support.fault_proxy import COMMIT, Fault, Said, What

# How a statement of a client begins: parsed and bound, bound again, or a plain query.
STATEMENT = (b"P", b"B", b"Q")

# What breaks, as a test's id says it.
HOW: dict[str, tuple[What, str]] = {
    "before": ("drop", ""),
    "after": ("cut", ""),
    "40001": ("refuse", "40001"),
    "40P01": ("refuse", "40P01"),
    "57014": ("refuse", "57014"),
    "55P03": ("refuse", "55P03"),
    "25006": ("refuse", "25006"),
    "25P04": ("refuse", "25P04"),
    "53300": ("refuse", "53300"),
}
# One of each kind: the others are met as 40001 is. DBOS tries again after 40001 and a link that is
# closed, as ours is after 25006, and not after 57014 and 55P03.
KINDS = ("before", "after", "40001", "57014", "55P03", "25006")
BOUNDS = ("57014", "55P03")  # Told at once: to try again would be to wait again.
LINK_FAULTS = ("before", "after")
How: TypeAlias = str


@dataclass
class NthFault(Fault):
    """Breaks the n-th statement, and where it lasts, each one from there on.

    naming   only statements of a transaction that has said this are counted
    commits  only its commits are
    """

    nth: int = 1
    naming: bytes = b""
    commits: bool = False
    count: int = 0

    def is_met(self, data: bytes, said: Said) -> bool:
        """Count a statement, and say whether it is the one."""
        if not data.startswith(STATEMENT) or self.naming not in said.transaction:
            return False
        if self.commits and COMMIT not in data:
            return False
        self.count += 1
        return self.count >= self.nth


def nth_fault(
    how: How, nth: int, *, lasts: bool = False, naming: str = "", commits: bool = False
) -> NthFault:
    """Make a fault of a kind that HOW knows."""
    what, sqlstate = HOW[how]
    return NthFault(
        what,
        sqlstate=sqlstate,
        lasts=lasts,
        nth=nth,
        naming=naming.encode(),
        commits=commits,
    )
