"""Usage: what a session's runs have used, in our own rows or in a store of the application's.

A store of the application's is strict: while it cannot be had nothing is driven, and nothing of
what is used is ever written to the other place instead.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, assert_never
from uuid import uuid4

from lockgate.agents import DriveFactoryContext, UsageReadContext
from lockgate.answer import session_not_found
from lockgate.call_outcomes import RecordUsageEntriesOutcome
from lockgate.contained import called
from lockgate.errors import EntryRefused
from lockgate.outcomes import ListOutcome
from lockgate.requests import TRUSTED, Actor
from lockgate.rules import usage
from lockgate.strict_json import dumps

PAGE = 1_000  # entries in one read: the rule's most

# {id, sessionId, runId, stepCount, timestamp (ms), source: agent | tool | subagent, kind, …}; then
# tokens: {model, tokens: {prompt, completion, …}}; tool: {tool, success, durationMs};
# subagent: {agentType}; custom: {type, value}.
UsageEntry: TypeAlias = Mapping[str, Any]
UsageContext: TypeAlias = DriveFactoryContext | UsageReadContext


class UsageStore(Protocol):
    """Keeps what one session's runs have used.

    record  called in a drive before the commit of what was used, so that after a crash the same
            entries may come again: each has its id to deduplicate on
    rollup  {tokens, tokensByModel, toolStats, subAgentStats, custom}
    """

    async def record(self, entries: Sequence[UsageEntry]) -> None: ...
    async def rollup(self) -> Mapping[str, Any]: ...


# Makes a session's store, plain or async, for a drive or to read.
UsageStoreFactory: TypeAlias = Callable[[UsageContext], UsageStore | Awaitable[UsageStore]]


class StrictStore:
    """An application's store whose every failure is framework_usage_store_unavailable."""

    def __init__(self, store: UsageStore) -> None:
        self._store = store

    async def record(self, entries: Sequence[UsageEntry]) -> None:
        """Record entries. Errors  EntryRefused, which for a drive is transient"""
        try:
            await called(self._store.record, entries)
        except Exception as error:
            raise _unavailable("The usage store did not record", error) from error

    async def rollup(self) -> Mapping[str, Any]:
        """Sum up. Errors  EntryRefused"""
        try:
            rollup: Mapping[str, Any] = await called(self._store.rollup)
        except Exception as error:
            raise _unavailable("The usage store could not be read", error) from error
        return rollup


async def store_from(
    factory: UsageStoreFactory | None, context: UsageContext
) -> StrictStore | None:
    """Make a session's store of the application's; None where the rows of our own are the store.

    Errors  EntryRefused framework_usage_store_unavailable
    """
    if factory is None:
        return None
    try:
        return StrictStore(await called(factory, context))
    except Exception as error:
        raise _unavailable("The usage store could not be had", error) from error


class SessionUsage:
    """The built-in store, bound to its session: it takes and reads no other's entries.

    What drives have used is in it by their commits; `record` adds what is counted outside of one.
    """

    def __init__(
        self, call: Callable[..., Awaitable[Any]], session_id: str, actor: Actor = TRUSTED
    ) -> None:
        """call  calls a rule with its parameters, as Database.call does"""
        self._call = call
        self._session = {
            "session_id": session_id,
            "acting_user_id": actor.user_id,
            "tenant_id": actor.tenant_id,
        }

    async def record(self, entries: Sequence[UsageEntry]) -> None:
        """Add entries, all or none; one whose id is there already is passed over.

        Without a runId an entry is the current run's; without an id it is given one.
        Errors  EntryRefused: validation_error, for another session's entry too;
                state_session_not_found; StoreUnavailable
        """
        given = [{"id": str(uuid4()), **entry} for entry in entries]
        answer = await self._call(usage.record_usage_entries, entries=dumps(given), **self._session)
        match answer.outcome:
            case RecordUsageEntriesOutcome.RECORDED:
                return
            case RecordUsageEntriesOutcome.SESSION_NOT_FOUND:
                raise session_not_found()
            case RecordUsageEntriesOutcome.INVALID_REQUEST:
                raise EntryRefused(
                    "validation_error", "Not an entry of this session", field=answer.detail["field"]
                )
            case _:
                assert_never(answer.outcome)

    async def entries(self) -> list[UsageEntry]:
        """Read the session's entries, in the order they were recorded. Errors  as record."""
        found: list[UsageEntry] = []
        while True:
            after = found[-1]["entry"] if found else 0
            page = await self._call(
                usage.list_usage_entries, after=after, limit=PAGE, **self._session
            )
            if page.outcome is not ListOutcome.PAGE:
                raise session_not_found()
            found += page.items
            if not page.has_more:
                return found

    async def rollup(self) -> Mapping[str, Any]:
        """Sum up what the session's runs have used. Errors  as record."""
        answer = await self._call(usage.usage_rollup, **self._session)
        if answer.rollup is None:
            raise session_not_found()
        summed: Mapping[str, Any] = answer.rollup
        return summed


def _unavailable(message: str, cause: Exception) -> EntryRefused:
    return EntryRefused("framework_usage_store_unavailable", message, cause=cause)
