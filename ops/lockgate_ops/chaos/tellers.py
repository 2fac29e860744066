"""Tales: what the client of a session does with it, knowing how each of its runs must end."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from lockgate_ops.chaos.agents import DIE, PACE
from lockgate_ops.chaos.clients import Client, Stuck
from lockgate_ops.chaos.wishes import call, new_token, script

TALES: Mapping[str, int] = {
    "steps": 5,
    "picked": 2,
    "approved": 2,
    "mixed": 2,
    "interrupted": 2,
    "aborted": 1,
    "failed": 1,
    "replaced": 1,
}
POISON_MODEL_TALES = {"poisonous_model": 1}
POISON_TOOL_TALES = {"poisonous_tool": 1}
LATE_TALES = {"steps": 2, "left": 1}


class Teller(Client):
    """The client of one session."""

    async def tell(
        self,
        tales: Mapping[str, int],
        gone: asyncio.Event,
        over: asyncio.Event,
        pause_s: float,
    ) -> None:
        """Tell one tale after the other until the storm has gone; each to its end.

        over  from when on a run is answered that was left waiting for its client
        """
        try:
            while not gone.is_set():
                await self._paused(gone, self.rng.uniform(0, 2 * pause_s))
                (tale,) = self.rng.choices([*tales], [*tales.values()])
                await getattr(self, tale)()
                self.sent.tales[tale] += 1
                if tale == "left":
                    await over.wait()
                    await self.answered_late()
        except Stuck as stuck:
            self.sent.wrong.append(f"{self.session_id}: {stuck}")

    async def _paused(self, gone: asyncio.Event, for_s: float) -> None:
        try:
            async with asyncio.timeout(for_s):
                await gone.wait()
        except TimeoutError:
            return

    async def steps(self) -> None:
        """Several steps, whose tools take time; one of them must not run twice."""
        token = new_token()
        turns: list[dict[str, Any]] = []
        for step in range(self.rng.randint(1, 4)):
            calls = [call("note", text=f"{token} {step}", seconds=self.rng.uniform(0, 0.3))]
            if self.rng.random() < 0.4:
                calls.append(call("note", text="beside it", seconds=0))
            if self.rng.random() < 0.3:
                calls.append(call("once", text="once"))
            turns.append({"calls": calls})
        await self.start(token, *turns, self._said(token))
        self.expect("steps", await self.followed(), "completed", self._spoken(token))

    async def picked(self) -> None:
        """A run that waits for its client, which answers twice."""
        token = new_token()
        picks = [call("pick", options=["a", "b"]) for _ in range(self.rng.randint(1, 2))]
        await self.start(token, {"calls": picks}, self._said(token))
        await self._answered("picked", token)

    async def approved(self) -> None:
        """A payment that waits for a person."""
        token = new_token()
        await self.start(token, {"calls": [call("pay", amount=4)]}, self._said(token))
        await self._answered("approved", token)

    async def mixed(self) -> None:
        """A step of a tool, a client and an approval, after a step of tools alone."""
        token = new_token()
        first = {"calls": [call("note", text="first", seconds=0.1)]}
        batch = [call("note", text="n", seconds=0), call("pick", options=[]), call("pay", amount=1)]
        await self.start(token, first, {"calls": batch}, self._said(token))
        await self._answered("mixed", token)

    async def interrupted(self) -> None:
        """A run that is interrupted, and gone on with by a message."""
        token = new_token()
        run_id = await self.start(token, *self._long(token))
        ending = await self.stopped("interrupt", run_id)
        if ending.status == "interrupted":
            token = new_token()
            message = script(self._said(token))
            options = {"options": {"mode": "with_message", "message": message}}
            await self.enter("resume", token, options)
            self.expect("resumed", await self.followed(), "completed", self._spoken(token))
        else:
            self.expect("interrupted", ending, "completed")

    async def aborted(self) -> None:
        """A run that is aborted."""
        token = new_token()
        run_id = await self.start(token, *self._long(token))
        ending = await self.stopped("abort", run_id)
        if ending.status != "completed":
            self.expect("aborted", ending, "failed", code="framework_cancelled")

    async def failed(self) -> None:
        """A run whose model fails for good, and its retry with another message."""
        token = new_token()
        fail = {"code": "model_failed", "retryable": False, "message": token}
        await self.start(token, {"calls": [call("note", text="n", seconds=0)]}, {"fail": fail})
        self.expect("failed", await self.followed(), "failed", code="model_failed")
        token = new_token()
        await self.enter("retry", token, {"message": script(self._said(token))})
        self.expect("retried", await self.followed(), "completed", self._spoken(token))

    async def replaced(self) -> None:
        """A run that waits for its client, who says something else instead."""
        token = new_token()
        await self.start(token, {"calls": [call("pick", options=[])]}, self._said(token))
        self.expect("replaced", await self.followed(), "paused")
        (pending,) = await self.pending()
        token = new_token()
        await self.start(token, self._said(token))
        late = await self.submitted(pending, {"late": True})
        if late.label not in ("run_ended", "state_not_resumable", "not_resumable"):
            self.sent.wrong.append(f"{self.session_id}: a late answer was told {late}")
        self.expect("started instead", await self.followed(), "completed", self._spoken(token))

    async def left(self) -> None:
        """A run that waits for its client until the storm has passed."""
        token = new_token()
        await self.start(token, {"calls": [call("pick", options=[])]}, self._said(token))
        self.expect("left", await self.followed(), "paused")

    async def poisonous_model(self) -> None:
        """A run whose model ends the worker's process each time: its budget is spent."""
        token = new_token()
        await self.start(token, {"say": f"{DIE} {token}"})
        code = "framework_auto_resume_exhausted"
        self.expect("poisonous model", await self.followed(), "failed", code=code)

    async def poisonous_tool(self) -> None:
        """A run whose tool ends the worker's process: the call is given up, and the run goes on."""
        token = new_token()
        await self.start(token, {"calls": [call("poison")]}, self._said(token))
        ending = await self.followed()
        self.expect("poisonous tool", ending, "completed", self._spoken(token))

    async def answered_late(self) -> None:
        """Answer what was left."""
        for pending in await self.pending():
            await self.submitted(pending, "late")
        self.expect("answered late", await self.followed(), "completed")

    def _said(self, token: str) -> dict[str, Any]:
        pace = f"{PACE}{self.rng.uniform(0, 0.05):.3f} "
        return {"say": f"{pace}It is done, and {token} was heard."}

    def _spoken(self, token: str) -> str:
        return f"It is done, and {token} was heard."

    def _long(self, token: str) -> tuple[dict[str, Any], ...]:
        notes = [{"calls": [call("note", text="long", seconds=0.3)]} for _ in range(3)]
        return (*notes, {"say": f"{PACE}0.2 It takes a while until {token} is said."})

    async def _answered(self, tale: str, token: str) -> None:
        """Answer all that a run waits for, some of it twice at once, and see it go on."""
        self.expect(tale, await self.followed(), "paused")
        for pending in await self.pending():
            told = [self.submitted(pending, "one"), self.submitted(pending, "two")]
            both = await asyncio.gather(*told[: 2 if self.rng.random() < 0.5 else 1])
            for spared in told[len(both) :]:
                spared.close()
            if [each.label for each in both].count("accepted") > 1:
                self.sent.wrong.append(f"{self.session_id}: two answers were the first: {both}")
        self.expect(tale, await self.followed(), "completed", self._spoken(token))
