"""What a repeated key gets, for who holds a run's record and does not ask the rules."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID

from lockgate.labels import LIVE_STATUSES
from lockgate.outcomes import EntryOutcome


class KeyedRun(Protocol):
    """What is read of a run that holds a key; run_id None is no such run."""

    @property
    def run_id(self) -> UUID | None: ...
    @property
    def status(self) -> str: ...
    @property
    def request_digest(self) -> str | None: ...


def plan_keyed_entry(
    holder: KeyedRun | None, request_digest: str, current_run_id: UUID | None
) -> EntryOutcome | None:
    """Say what a request gets from the run that holds its key; None where no run does.

    Other input is a conflict whatever the run's status; a live run, or the session's current one,
    is attached to; an older one is over. Decided here as lockgate.plan_keyed_entry decides it.
    """
    if holder is None or holder.run_id is None:
        return None
    if holder.request_digest != request_digest:
        return EntryOutcome.REQUEST_KEY_CONFLICT
    if holder.status in LIVE_STATUSES or holder.run_id == current_run_id:
        return EntryOutcome.ATTACHED
    return EntryOutcome.REQUEST_ALREADY_COMPLETED
