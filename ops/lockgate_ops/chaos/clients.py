"""The client of one session over HTTP: it asks, answers, stops and reads until it is told.

What was not answered is sent again, under the same key and to any server, and some of what was
answered too. What it waits for has a bound: a run that nothing brings to its end is a loss.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from lockgate_ops.chaos.ledger import Ledger
from lockgate_ops.chaos.readers import Ending, Reader
from lockgate_ops.chaos.ways import ACCEPTED, LOST, NOT_WRITTEN, UNAVAILABLE, Answer, OverHttp
from lockgate_ops.chaos.wishes import Wish, script

ENDS_WITHIN_S = 150.0  # five waits of a budget, and a database that is away
AGAIN_S = 0.4
REPEATS = 100
ASKED_AGAIN = 0.3  # of what was answered
NO_ANSWER = frozenset({LOST, UNAVAILABLE, NOT_WRITTEN})


class Stuck(Exception):
    """A client cannot go on: what it was told, or was not, is nothing that may be."""


@dataclass(slots=True)
class Sent:
    """What the clients together have asked for and seen, beside the ledger of their entries.

    stops  the runs that a stop was sent to, by its kind
    wrong  what is not as it must be
    """

    tales: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    stops: dict[str, set[str]] = field(default_factory=lambda: {"interrupt": set(), "abort": set()})
    wrong: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Client:
    """The one client of a session."""

    session_id: str
    way: OverHttp
    reader: Reader
    rng: random.Random
    ledger: Ledger
    sent: Sent

    async def start(self, token: str, *turns: Mapping[str, Any]) -> str:
        """Start a run of a script; returns the run."""
        return await self.enter("start", token, {"input": {"message": script(*turns)}})

    async def enter(self, verb: str, token: str, given: dict[str, Any]) -> str:
        """Ask for a drive until one is told of; returns its run."""
        wish = Wish(self.session_id, verb, given, token, key=f"k-{uuid4().hex}")
        asked = 2 if self.rng.random() < ASKED_AGAIN else 1
        answers = await asyncio.gather(*(self._asked(wish) for _ in range(asked)))
        if self.rng.random() < ASKED_AGAIN:
            answers.append(await self._asked(wish))
        (run_id, *others) = {answer.run_id for answer in answers}
        if others or run_id is None:
            raise Stuck(f"{wish} was told {answers}")
        return run_id

    async def _asked(self, wish: Wish) -> Answer:
        for _ in range(REPEATS):
            answer = await self.way.ask(wish)
            self.ledger.note(self.way.name, wish, answer)
            if answer.label in ACCEPTED:
                return answer
            if answer.label not in NO_ANSWER:
                break
            await asyncio.sleep(AGAIN_S)
        raise Stuck(f"{wish} was told {answer}")

    async def followed(self) -> Ending:
        """Read on until the stream ends."""
        try:
            async with asyncio.timeout(ENDS_WITHIN_S):
                return await self.reader.follow()
        except TimeoutError:
            raise Stuck(f"a stream has no end within {ENDS_WITHIN_S} s") from None

    async def stopped(self, kind: str, run_id: str) -> Ending:
        """Stop a run after a moment, and see how it ends."""
        following = asyncio.create_task(self.followed())
        await asyncio.sleep(self.rng.uniform(0, 1.5))
        self.sent.stops[kind].add(run_id)
        await self.posted(kind, {"runId": run_id})
        return await following

    async def pending(self) -> list[dict[str, Any]]:
        """Return the calls that wait for an answer."""
        for _ in range(REPEATS):
            answer = await self.way.get(self.session_id, "snapshot")
            if answer.body is not None:
                found: list[dict[str, Any]] = answer.body["pending"]
                return found
            self._raw(answer)
            await asyncio.sleep(AGAIN_S)
        raise Stuck(f"{self.session_id} shows no snapshot: {answer}")

    async def submitted(self, pending: Mapping[str, Any], result: Any) -> Answer:
        """Answer a call: approve it, or give a result."""
        body = {"kind": "client-tool-result", "toolCallId": pending["toolCallId"], "result": result}
        if pending["kind"] == "approval":
            body |= {"kind": "approval-response", "approvalId": pending["approvalId"]}
            body["approved"] = True
            del body["result"]
        return await self.posted("submit-tool-result", body)

    async def posted(self, verb: str, body: Mapping[str, Any]) -> Answer:
        """Post what may be posted twice, until it is answered."""
        for _ in range(REPEATS):
            answer = await self.way.post(self.session_id, verb, body)
            self._raw(answer)
            self.sent.answers[f"{verb}: {answer.label}"] += 1
            if answer.label not in NO_ANSWER:
                return answer
            await asyncio.sleep(AGAIN_S)
        raise Stuck(f"{verb} {body} was told {answer}")

    def _raw(self, answer: Answer) -> None:
        if answer.raw is not None:
            self.sent.wrong.append(f"{self.session_id}: {answer.raw}")

    def expect(
        self,
        tale: str,
        ending: Ending,
        status: str,
        output: str | None = None,
        code: str | None = None,
    ) -> None:
        """Hold a run's end against what it must be."""
        is_other = output is not None and ending.said.get("output") != output
        if ending.status != status or ending.code != code or is_other:
            self.sent.wrong.append(f"{self.session_id}: {tale} is to be {status}: {ending}")
