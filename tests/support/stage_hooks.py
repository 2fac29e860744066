"""Hooks of the agent `hooked`: each is noted, and some raise where the session's id says so."""

from collections.abc import Awaitable, Callable
from dataclasses import fields
from typing import Any

from lockgate import AgentHookContext, AgentHooks, EntryRefused
from tests.support.stage import Stage


def noting_hooks(stage: Stage, whose: str = "own") -> AgentHooks:
    """Make hooks that note what they are told.

    In a session called *throws* each raises; *refuses-tool* and *refuses-model* raise a typed error
    before a tool, or before a model call.
    """

    def noting(name: str) -> Callable[[AgentHookContext, Any], Awaitable[None]]:
        async def hook(context: AgentHookContext, event: Any) -> None:
            told = {each.name: getattr(event, each.name) for each in fields(event)}
            told.pop("messages", None)
            stage.note(
                "hook", name=name, whose=whose, run=context.run_id, told=told, state=context.state
            )
            if "throws" in context.session_id:
                raise RuntimeError(f"{name} throws")
            refused = {"before_tool": "refuses-tool", "before_llm_call": "refuses-model"}.get(name)
            if refused is not None and refused in context.session_id:
                raise EntryRefused("validation_error", f"{name} refuses")

        return hook

    return AgentHooks(**{each.name: noting(each.name) for each in fields(AgentHooks)})
