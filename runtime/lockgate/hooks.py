"""The three hooks of a host: admission, entry, settlement. What they are told, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias
from uuid import UUID

import structlog

from lockgate.contained import called
from lockgate.errors import error_detail
from lockgate.requests import ResumeOptions, UserInput

HOOK_BOUND_S = 30.0  # a hook that takes longer counts as one that threw

log = structlog.get_logger(__name__)

DriveKind: TypeAlias = Literal["start", "resume", "retry", "continue", "recover"]


@dataclass(frozen=True, slots=True)
class Identity:
    """Whose session it is; fixed when the session was created."""

    user_id: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    parent_session_id: str | None = None
    root_session_id: str | None = None

    @classmethod
    def told(cls, given: Mapping[str, Any]) -> Identity:
        """Return the identity that a rule tells."""
        return cls(
            user_id=given["userId"],
            tags=tuple(given["tags"]),
            metadata=given["metadata"],
            parent_session_id=given["parentSessionId"],
            root_session_id=given["rootSessionId"],
        )


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an entry came from: the request itself, and by which kind of route."""

    request: Any = None
    route: Literal["native", "subagent"] = "native"


@dataclass(frozen=True, slots=True)
class BeforeEntryContext:
    """What before_entry decides on.

    body           start: the validated start body; empty for another drive
    options        resume: how it goes on, for with_message with the message
    checkpoint_id  retry: where it goes back to, if that was said
    message        retry: the new user's message, if there is one
    """

    env: Any
    session_id: str
    agent_type: str
    drive: DriveKind
    origin: Origin
    identity: Identity
    body: Mapping[str, Any] = field(default_factory=dict)
    options: ResumeOptions | None = None
    checkpoint_id: str | None = None
    message: UserInput | None = None


@dataclass(frozen=True, slots=True)
class Refuse:
    """What before_entry returns to refuse an entry: `response` is answered verbatim."""

    response: Any


@dataclass(frozen=True, slots=True)
class AfterEntryContext:
    """Told once per drive, after it owns its run; a recovery is drive `recover`."""

    env: Any
    tenant_id: str
    session_id: str
    run_id: UUID
    drive: DriveKind


@dataclass(frozen=True, slots=True)
class RunSettledContext:
    """Told at least once per (run, status): deduplicate on delivery_id."""

    env: Any
    tenant_id: str
    session_id: str
    run_id: UUID
    drive: str
    status: str
    result: Any
    error_detail: Mapping[str, Any] | None
    delivery_id: str


@dataclass(frozen=True, slots=True)
class Hooks:
    """A host's hooks; each may be absent.

    before_entry    admission only: returns None, or Refuse. It runs after every other gate, so a
                    refused entry has touched nothing. A raise is framework_hook_failed.
    after_entry     in the worker that claimed the run; not awaited by the drive, a raise is logged.
    on_run_settled  outside the drive, at least once; a raise is logged and marked all the same.
    """

    before_entry: Callable[[BeforeEntryContext], Awaitable[Refuse | None]] | None = None
    after_entry: Callable[[AfterEntryContext], Awaitable[None]] | None = None
    on_run_settled: Callable[[RunSettledContext], Awaitable[None]] | None = None


async def raised_by(hook: Callable[..., Awaitable[None]], *told: Any) -> BaseException | None:
    """Call a hook, and return what it raised instead of raising it.

    A hook past its bound is cancelled and counts as one that threw, as does one that cancels
    itself. Only who awaits here may be cancelled from outside.
    """
    try:
        async with asyncio.timeout(HOOK_BOUND_S):
            await called(hook, *told)
    except Exception as error:  # noqa: BLE001 - the caller decides what a throw means.
        return error
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return error
    return None


async def logged(name: str, hook: Callable[..., Awaitable[None]], *told: Any) -> None:
    """Call a hook whose raise is nobody's failure: it is logged, as the guide says."""
    error = await raised_by(hook, *told)
    if error is not None:
        log.error("hook.raised", hook=name, error=error_detail(error))
