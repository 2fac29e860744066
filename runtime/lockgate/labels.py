"""Stored words of closed sets, as this release knows them.

Another word is a promise of the store that is broken, or was made by a later release: it is never
guessed at, and no repeat cures it.
"""

from __future__ import annotations

from collections.abc import Container

from lockgate.errors import RuleBroken

ROLES = frozenset({"user", "assistant", "tool"})
DRIVES = frozenset({"start", "resume", "retry", "continue"})
SESSION_STATUSES = frozenset({"active", "paused", "completed", "failed", "interrupted"})
STREAM_STATUSES = frozenset({"active", "paused", "ended", "failed"})
CALL_STATUSES = frozenset({"pending", "answered", "consumed", "abandoned"})
LIVE_STATUSES = frozenset(
    {
        "running",
        "suspended_client_tool",
        "suspended_awaiting_children",
        "suspended_step_partial",
    }
)
RUN_STATUSES = LIVE_STATUSES | {"completed", "failed", "interrupted", "superseded"}


def known(label: object, labels: Container[str]) -> str:
    """Return a stored word that is one of these. Errors  RuleBroken LG004"""
    if isinstance(label, str) and label in labels:
        return label
    raise RuleBroken("LG004", {"unknownLabel": str(label)})
