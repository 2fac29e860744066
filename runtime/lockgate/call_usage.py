"""What the body of a call, or a model's reply, says that it has used: checked before it is kept.

One odd value costs itself only: what a rule would refuse must not end the run that it came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from lockgate.strict_json import NotStorable, dumps, storable

# What an entry says of itself, here or in a store of the application's.
RESERVED = frozenset({"id", "sessionId", "runId", "stepCount", "timestamp"})
MAX_ENTRY = 2_000  # characters of ASCII JSON: as the database keeps it within what its rule takes


def is_count(value: object) -> bool:
    """Say whether a storable value is a number."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


@dataclass(slots=True)
class CallUsage:
    """What one call's body has used so far, as usage entries."""

    entries: list[dict[str, Any]] = field(default_factory=list)

    def record(self, kind: str, value: int | float | Decimal = 1, **more: Any) -> None:
        """Count something of one's own.

        Errors  ValueError: no name, a value that is no count, a name in `more` that is not the
                body's to give, or more than an entry holds
        """
        if not isinstance(kind, str) or not kind:
            raise ValueError("what is counted has a name")
        clean = storable(more)
        assert isinstance(clean, dict)
        if RESERVED & clean.keys():
            raise ValueError(f"{', '.join(sorted(RESERVED))} are not the body's to give")
        if not all(is_count(clean[name]) for name in ("durationMs",) if name in clean):
            raise ValueError("a duration is a finite number")
        counted = storable(value)
        if not is_count(counted):
            raise ValueError("a count is a finite number")
        own = {"kind": "custom", "source": "tool", "type": storable(kind), "value": counted}
        entry: dict[str, Any] = {**clean, **own}
        if len(dumps(entry)) > MAX_ENTRY:
            raise ValueError(f"an entry has at most {MAX_ENTRY:,} characters of JSON")
        self.entries.append(entry)


def counts_of(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of a reply's usage can be counted; what is no number costs itself only."""
    counts = {}
    for name, value in usage.items():
        try:
            count = storable(value)
        except NotStorable:
            continue
        if is_count(count):
            counts[str(storable(name))] = count
    return counts
