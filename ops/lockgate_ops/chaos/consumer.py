"""A consumer of settlements in SQL alone: its effect is in the transaction of its mark, so once."""

from __future__ import annotations

import asyncio

import psycopg

CONSUMER = "chaos"
EVERY_S = 0.5
CLAIM = "select delivery_id from lockgate.claim_settlements(%s, p_lease_ms => 5000)"
EFFECT = """
with marked as (select outcome from lockgate.mark_delivered(%s, %s))
insert into chaos.consumed (delivery_id) select %s from marked where outcome = 'marked'"""


async def consume(url: str, over: asyncio.Event) -> None:
    """Take what has settled until it is over; a link that the storm cuts is made again."""
    while not over.is_set():
        try:
            async with await psycopg.AsyncConnection.connect(url, autocommit=True) as conn:
                while not over.is_set():
                    await consume_due(conn)
                    await asyncio.sleep(EVERY_S)
        except psycopg.OperationalError:
            await asyncio.sleep(EVERY_S)


async def consume_due(conn: psycopg.AsyncConnection) -> int:
    """Take what is due now; returns how much that was."""
    taken = 0
    while due := await (await conn.execute(CLAIM, [CONSUMER])).fetchall():
        for (delivery_id,) in due:
            async with conn.transaction():
                await conn.execute(EFFECT, [delivery_id, CONSUMER, delivery_id])
        taken += len(due)
    return taken
