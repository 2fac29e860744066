"""Lockgate: a transactional session runtime for AI agents that lives in your own Postgres."""

from lockgate.agents import (
    Agent,
    AgentRegistry,
    DriveFactoryContext,
    Tool,
    ToolContext,
    define_agent,
    tool,
)
from lockgate.errors import (
    AgentResolutionError,
    EntryRefused,
    LockgateError,
    RequestAlreadyCompleted,
    RequestKeyConflict,
    RuleBroken,
    RunStartRejected,
    StoreUnavailable,
    classify_entry_failure,
)
from lockgate.executor import RunHandle, RunResult, Runtime
from lockgate.hooks import (
    AfterEntryContext,
    BeforeEntryContext,
    Hooks,
    Identity,
    Origin,
    Refuse,
    RunSettledContext,
)
from lockgate.requests import (
    REQUEST_KEY_HEADER,
    REQUEST_KEY_PATTERN,
    Actor,
    parse_request_key,
)

__all__ = [
    "REQUEST_KEY_HEADER",
    "REQUEST_KEY_PATTERN",
    "Actor",
    "AfterEntryContext",
    "Agent",
    "AgentRegistry",
    "AgentResolutionError",
    "BeforeEntryContext",
    "DriveFactoryContext",
    "EntryRefused",
    "Hooks",
    "Identity",
    "LockgateError",
    "Origin",
    "Refuse",
    "RequestAlreadyCompleted",
    "RequestKeyConflict",
    "RuleBroken",
    "RunHandle",
    "RunResult",
    "RunSettledContext",
    "RunStartRejected",
    "Runtime",
    "StoreUnavailable",
    "Tool",
    "ToolContext",
    "classify_entry_failure",
    "define_agent",
    "parse_request_key",
    "tool",
]
