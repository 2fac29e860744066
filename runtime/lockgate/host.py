"""What an application configures, as one frozen value that entry, drive and delivery share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from lockgate.agents import AgentRegistry, AgentResolver
from lockgate.forwarding import SubmitForwarder
from lockgate.hooks import Hooks
from lockgate.usage import UsageStoreFactory

ConcurrentEntry: TypeAlias = Literal["reject", "interrupt_previous"]


@dataclass(frozen=True, slots=True)
class Host:
    """An application's side of Lockgate.

    agents                       finds an agent by its type
    env                          given to every hook and factory, and otherwise left alone
    concurrent_entry             what an entry makes of a run that executes
    concurrent_entry_timeout_ms  how long an entry waits: for the session's row, and for a run
                                 that it has interrupted
    auto_resume                  whether a run whose worker was lost goes on by itself; if not, it
                                 is paused, and a resume goes on with it
    dispatch_limit_ms            how long a run that nobody alive serves still counts as executing
    usage_store                  makes a session's usage store; None keeps usage in our own rows
    submit_forwarder             sends on a submit that is for another host's session
    """

    agents: AgentResolver = field(default_factory=AgentRegistry)
    hooks: Hooks = field(default_factory=Hooks)
    env: Any = None
    concurrent_entry: ConcurrentEntry = "reject"
    concurrent_entry_timeout_ms: int = 30_000
    auto_resume: bool = True
    dispatch_limit_ms: int = 30_000
    usage_store: UsageStoreFactory | None = None
    submit_forwarder: SubmitForwarder | None = None
