"""What an operator asks of an installation: is it whole, is somebody working, is anything late?

It only reads, unless it is told to mend an index: pg_catalog, the views, and one rule. Each finding
says what to do; `bad` is what keeps runs from being taken or driven, and makes the exit code 1.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

import psycopg

from lockgate.rules.call import Connection
from lockgate.rules.shared import check_installation
from lockgate_ops.exits import announce, complain
from lockgate_ops.indexes import NO_TABLE, STATES, WHOLE, asked_for, build_indexes, indexes
from lockgate_ops.install import OLDEST_SERVER, look_at_server
from lockgate_ops.readiness import (
    MEND,
    NOT_INSTALLED,
    RUN_INSTALL,
    connect,
    is_direct,
    refuse_other_rules,
)
from lockgate_ops.refusals import Refused, told
from lockgate_ops.settings import Settings

LATE_S = 10.0  # a run that waits for a free worker longer than any takeover lasts
LAG_S = 60.0  # as long as a delivery is leased

SERVER = """
select current_setting('server_version') as version,
       current_setting('server_version_num')::integer / 10000 as major,
       current_setting('default_transaction_isolation') as isolation,
       pg_postmaster_start_time()::text || current_database() as identity
"""
MISSING_ROLES = """
select r.name from unnest(%s::text[]) r(name) where to_regrole(quote_ident(r.name)) is null
"""
WORKERS = """
select count(*) filter (where w.alive and not w.draining) as taking,
       count(*) filter (where w.alive and w.draining) as draining,
       count(*) filter (where not w.alive and w.live_runs > 0) as dead_with_runs
  from lockgate.worker_health w
"""
WAITING = """
select count(*) as waiting,
       extract(epoch from clock_timestamp() - min(r.since))::double precision as oldest_s
  from lockgate.live_runs r
 where r.phase = 'waiting'
"""
LAGGING = """
select l.consumer, l.undelivered, extract(epoch from l.lag)::double precision as lag_s
  from lockgate.settlement_lag l
 where l.lag > %s * interval '1 second'
 order by l.consumer
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """One answer: what was looked at, how it stands, and what to do."""

    check: str
    level: Literal["ok", "warn", "bad"]
    said: str
    advice: str | None = None


def mend(settings: Settings, *, as_json: bool = False) -> None:
    """Build each index that is missing or invalid, as an install does, and say so.

    as_json  say it on stderr, since stdout is one document
    Errors   Refused, where it cannot be built
    """
    url = settings.direct_url or settings.required_url()
    look_at_server(url)
    build_indexes(url, complain if as_json else announce)


def doctor(settings: Settings, *, as_json: bool = False) -> int:
    """Print every finding; returns 1 when one of them is bad."""
    settings.required_url()
    findings = asyncio.run(examine(settings))
    is_well = all(finding.level != "bad" for finding in findings)
    if as_json:
        announce(json.dumps({"ok": is_well, "findings": [asdict(each) for each in findings]}))
    else:
        for finding in findings:
            announce(f"{finding.level:<5} {finding.check:<12} {finding.said}")
            if finding.advice:
                announce(f"{'':<18} {finding.advice}")
    return 0 if is_well else 1


async def examine(settings: Settings) -> list[Finding]:
    """Return every finding, in the order in which they are to be mended."""
    try:
        conn = await connect(settings.required_url())
    except psycopg.Error as error:
        return [Finding("reachable", "bad", told(error)[0], "check LOCKGATE_DATABASE_URL")]
    async with conn:
        server = (await _rows(conn, SERVER))[0]
        findings = [_server(server), await _installed(conn)]
        async for finding in _indexes(conn):
            findings.append(finding)
        findings.append(await _roles(conn, settings))
        findings.append(await _pooler(conn, settings, server["identity"]))
        if findings[1].advice != RUN_INSTALL:
            async for finding in _work(conn):
                findings.append(finding)
    return findings


def _server(server: dict[str, Any]) -> Finding:
    said = f"PostgreSQL {server['version']}, {server['isolation']}"
    if server["major"] < OLDEST_SERVER:
        advice = f"Lockgate needs PostgreSQL {OLDEST_SERVER} or newer: upgrade the server"
        return Finding("server", "bad", said, advice)
    if server["isolation"] != "read committed":
        return Finding(
            "server",
            "bad",
            said,
            "rules run at READ COMMITTED only: alter database … or role … "
            "set default_transaction_isolation = 'read committed'",
        )
    return Finding("server", "ok", said)


async def _installed(conn: Connection) -> Finding:
    try:
        installed = await check_installation(conn)
        refuse_other_rules(installed)
    except Refused as error:
        said, _, advice = str(error).rpartition(": ")
        return Finding("installed", "bad", said or str(error), advice)
    except psycopg.Error as error:
        if error.sqlstate in NOT_INSTALLED:
            return Finding("installed", "bad", "Lockgate is not installed here", RUN_INSTALL)
        return Finding("installed", "bad", told(error)[0], "grant it lockgate_runtime")
    said = f"Lockgate {installed.package_version} ({installed.drive_version})"
    # An index is a finding of its own.
    lost = [name for name in installed.broken if name not in asked_for()[0]]
    if lost:
        return Finding("installed", "bad", f"{said} without {', '.join(lost)}", RUN_INSTALL)
    return Finding("installed", "ok", f"{said}, DBOS in schema {installed.dbos_schema}")


async def _indexes(conn: Connection) -> AsyncIterator[Finding]:
    """Say how the indexes stand; nothing where no table stands that they are of."""
    rows = await _rows(conn, STATES, asked_for())
    states = {row["name"]: row["state"] for row in rows if row["state"] != NO_TABLE}
    broken = {name: state for name, state in states.items() if state != WHOLE}
    if broken:
        said = "; ".join(f"{name} is {state}" for name, state in broken.items())
        does_guard = any(index.is_guard and index.name in broken for index in indexes())
        why = "serve and work do not start" if does_guard else "what reads by it is slow"
        yield Finding(
            "indexes",
            "bad" if does_guard else "warn",
            said,
            f"{why}: {MEND} or `lockgate install` builds it",
        )
    elif states:
        yield Finding("indexes", "ok", f"all {len(states)} are whole")


async def _roles(conn: Connection, settings: Settings) -> Finding:
    names = [settings.runtime_role, settings.dashboard_role]
    missing = [row["name"] for row in await _rows(conn, MISSING_ROLES, [names])]
    if not missing:
        return Finding("roles", "ok", f"{names[0]} may call, {names[1]} may read")
    made = "; ".join(f'create role "{name}" nologin' for name in missing)
    return Finding(
        "roles",
        "warn",
        f"missing: {', '.join(missing)}; only the owner may call and read",
        f"as a role that may, run: {made}; then lockgate install again",
    )


async def _pooler(conn: Connection, settings: Settings, identity: str) -> Finding:
    if settings.direct_url is None:
        if await is_direct(conn):
            return Finding("connection", "ok", "no pooler lies between")
        return Finding(
            "connection",
            "warn",
            "a pooler lies between, and no direct URL is set: a run waits for the queue's next "
            "poll, up to a second",
            "set LOCKGATE_DIRECT_URL to the same database past the pooler",
        )
    try:
        async with await connect(settings.direct_url) as direct:
            is_same = (await _rows(direct, SERVER))[0]["identity"] == identity
            if is_same and await is_direct(direct):
                return Finding("connection", "ok", "the direct URL leads past any pooler")
    except psycopg.Error as error:
        return Finding("connection", "bad", told(error)[0], "check LOCKGATE_DIRECT_URL")
    said = "leads through a pooler" if is_same else "is another database"
    return Finding("connection", "bad", f"the direct URL {said}", "check LOCKGATE_DIRECT_URL")


async def _work(conn: Connection) -> AsyncIterator[Finding]:
    try:
        workers = (await _rows(conn, WORKERS))[0]
        waiting = (await _rows(conn, WAITING))[0]
        lagging = await _rows(conn, LAGGING, [LAG_S])
    except psycopg.errors.InsufficientPrivilege:
        advice = "grant it membership in lockgate_dashboard, or connect as the owner"
        yield Finding("work", "warn", "this role may not read the views", advice)
        return
    yield _workers(workers, waiting)
    yield _waiting(waiting)
    yield _settlements(lagging)


def _workers(workers: dict[str, Any], waiting: dict[str, Any]) -> Finding:
    said = f"{workers['taking']} alive, {workers['draining']} draining"
    if workers["taking"] == 0:
        level: Literal["warn", "bad"] = "bad" if waiting["waiting"] else "warn"
        return Finding("workers", level, said, "start one: lockgate work")
    if workers["dead_with_runs"]:
        said = f"{said}, {workers['dead_with_runs']} dead with runs of its own"
        return Finding("workers", "warn", said, "a sweep takes them over in seconds: look again")
    return Finding("workers", "ok", said)


def _waiting(waiting: dict[str, Any]) -> Finding:
    if not waiting["waiting"]:
        return Finding("waiting", "ok", "no run waits for a worker")
    said = f"{waiting['waiting']} runs wait, the oldest for {waiting['oldest_s']:.1f} s"
    if waiting["oldest_s"] > LATE_S:
        advice = "start more workers, or give them more --concurrency"
        return Finding("waiting", "warn", said, advice)
    return Finding("waiting", "ok", said)


def _settlements(lagging: list[dict[str, Any]]) -> Finding:
    if not lagging:
        return Finding("settlements", "ok", "every consumer is up to date")
    said = "; ".join(
        f"{row['consumer']} is behind by {row['undelivered']}, the oldest {row['lag_s']:.0f} s"
        for row in lagging
    )
    advice = "start what consumes them; `hook` is delivered by a worker with on_run_settled"
    return Finding("settlements", "warn", said, advice)


async def _rows(
    conn: Connection, query: str, values: list[Any] | None = None
) -> list[dict[str, Any]]:
    async with conn.cursor(row_factory=psycopg.rows.dict_row) as cursor:
        await cursor.execute(query.encode(), values)
        return await cursor.fetchall()
