"""What the agents of a chaos note of themselves, in the database and whatever becomes of the link.

A note is committed before what it tells of goes on. It is tried until it is there, under an id of
its own, so that it stands once; when it began is taken before the first try.
"""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from lockgate import StoreUnavailable
from lockgate.database import Database
from lockgate.rules.call import Connection

AGAIN_S = 0.1
POOL_SIZE = 4

# Whether the result, or the reply, is committed is read in the statement that notes the beginning.
BODY = """
insert into chaos.bodies (id, session_id, run_id, step, ordinal, tool, pid, began_at, committed_at)
select %(id)s, %(session_id)s, %(run_id)s, %(step)s, %(ordinal)s, %(tool)s, %(pid)s, %(began_at)s,
       (select c.submitted_at from lockgate_store.tool_calls c
         where c.tenant_id = '' and c.session_id = %(session_id)s and c.run_id = %(run_id)s
           and c.step = %(step)s and c.ordinal = %(ordinal)s
           and c.status in ('answered', 'consumed'))
    on conflict do nothing"""
MODEL_CALL = """
insert into chaos.model_calls (id, session_id, run_id, step, pid, began_at, committed_at)
select %(id)s, %(session_id)s, %(run_id)s, %(step)s, %(pid)s, %(began_at)s,
       (select m.created_at from lockgate_store.messages m
         where m.tenant_id = '' and m.session_id = %(session_id)s and m.run_id = %(run_id)s
           and m.step = %(step)s and m.role = 'assistant')
    on conflict do nothing"""
CLAIM = """
insert into chaos.claims (id, run_id, drive, pid, began_at)
values (%(id)s, %(run_id)s, %(drive)s, %(pid)s, %(began_at)s) on conflict do nothing"""
HOOKED = """
insert into chaos.hooked (id, delivery_id) values (%(id)s, %(delivery_id)s)
    on conflict do nothing"""


class Records:
    """The notes of one process."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, pool_size=POOL_SIZE)
        self._opening: asyncio.Task[None] | None = None

    async def body(self, dedupe_id: str, session_id: str, tool: str) -> None:
        """Note that a tool's body begins."""
        run_id, step, ordinal = dedupe_id.split(":")
        place = {"run_id": UUID(run_id), "step": int(step), "ordinal": int(ordinal)}
        await self._note(BODY, session_id=session_id, tool=tool, **place)

    async def model_call(self, session_id: str, run_id: str, step: int) -> None:
        """Note that a model is asked for a step's reply."""
        await self._note(MODEL_CALL, session_id=session_id, run_id=UUID(run_id), step=step)

    async def claim(self, run_id: str, drive: str) -> None:
        """Note that an attempt at a run begins here."""
        await self._note(CLAIM, run_id=UUID(run_id), drive=drive)

    async def hooked(self, delivery_id: str) -> None:
        """Note that the hook was told of a settlement."""
        await self._note(HOOKED, delivery_id=delivery_id)

    async def _note(self, statement: str, **given: Any) -> None:
        given |= {"id": uuid4(), "pid": os.getpid(), "began_at": datetime.now(UTC)}
        if self._opening is None:
            self._opening = asyncio.create_task(self._database.open())
        await asyncio.shield(self._opening)

        async def insert(conn: Connection) -> None:
            await conn.execute(statement.encode(), given)

        while True:
            try:
                return await self._database.call(insert)
            except StoreUnavailable:
                await asyncio.sleep(AGAIN_S)
