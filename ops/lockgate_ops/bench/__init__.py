"""`lockgate bench`: the bars of the design, as ratios measured in one run on one machine.

Everything runs on a private server that is made for it and removed after. A figure without a rival
in the same run is only reported; a bar is never held by a timed test.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from lockgate_ops.bench import http_rows, pause_rows, sql_rows, takeover_rows
from lockgate_ops.bench.rows import HEAD, Row

SERVER_WAIT_S = 30.0


def run(quick: bool, as_json: bool, *, database_url: str | None = None) -> int:
    """Measure every row, show it, and return 0; a missed bar is told, not failed."""
    from lockgate_ops.binaries import find_bindir
    from lockgate_ops.embedded import temporary_postgres
    from lockgate_ops.install import install

    if database_url is not None:
        sys.stderr.write("bench makes a private server; it does not write to your database\n")
    rows: list[Row] = []
    with temporary_postgres() as server:
        url = server.start()
        install(url)
        if not as_json:
            sys.stdout.write(HEAD + "\n")
        for row in _measured(find_bindir(), url, quick=quick):
            rows.append(row)
            if not as_json:
                sys.stdout.write(row.as_line() + "\n")
                sys.stdout.flush()
    if as_json:
        sys.stdout.write(json.dumps([row.as_json() for row in rows], indent=2) + "\n")
    return 0


def _measured(bindir: Any, url: str, *, quick: bool) -> Iterator[Row]:
    sql: dict[str, Row] = {}
    for row in sql_rows.measure(bindir / "pgbench", url, quick=quick):
        sql[row.name] = row
        yield row
    yield from pause_rows.measure(url, quick=quick)
    yield _http_row(url, 2.0 if quick else 10.0, sql["start, keyed"].value)
    fresh = _fresh_database(url)
    yield from _drive_rows(fresh, 40 if quick else 400)
    yield from takeover_rows.measure(fresh, quick=quick)


def _fresh_database(url: str) -> str:
    """Make a database without the queue that the rows before have filled; returns its URL."""
    import psycopg

    from lockgate_ops.install import install

    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute("create database drives")
    fresh = url.rpartition("/")[0] + "/drives"
    install(fresh)
    return fresh


def _http_row(url: str, seconds: float, sql_rate: float) -> Row:
    """Start a server process of its own, and load it from here."""
    server = subprocess.Popen(
        [sys.executable, "-m", "lockgate_ops", "serve", "--no-worker", "--allow-unauthenticated",
         "--port", "0", "--database-url", url],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        base_url = _ready_address(server)
        value = asyncio.run(http_rows.rate(base_url, seconds))
    finally:
        os.kill(server.pid, signal.SIGTERM)
        server.wait(SERVER_WAIT_S)
        if server.stdout is not None:
            server.stdout.close()
    ratio = value / sql_rate
    return Row("HTTP start, one process", value, "starts/s", ratio, ">= 0.40 of SQL", ratio >= 0.4)


def _ready_address(server: subprocess.Popen[str]) -> str:
    assert server.stdout is not None
    for line in server.stdout:
        if line.startswith("ready "):
            return line.split()[1]
    raise RuntimeError("the server did not become ready")


def _drive_rows(url: str, count: int) -> Iterator[Row]:
    printed = subprocess.run(
        [sys.executable, "-m", "lockgate_ops.bench.drive_rows", url, str(count)],
        check=True, stdout=subprocess.PIPE, text=True,
    ).stdout  # fmt: skip
    got = json.loads(printed.splitlines()[-1])
    run_s, plain_s, both_s = got["scripted_s"], got["plain_s"], got["both_s"]
    yield Row("commit to drive, same process, p50", got["dispatch_p50_ms"], "ms", None,
              "<= 10 ms", got["dispatch_p50_ms"] <= 10)  # fmt: skip
    yield Row("commit to drive, same process, p99", got["dispatch_p99_ms"], "ms", None,
              "<= 50 ms", got["dispatch_p99_ms"] <= 50)  # fmt: skip
    yield Row("bare DBOS workflow, 5 plain steps", plain_s * 1000, "ms")
    yield Row("5 plain and 5 transactional steps", both_s * 1000, "ms")
    yield Row("scripted 5-step run, against plain", run_s * 1000, "ms", run_s / plain_s,
              "<= 1.00", run_s <= plain_s)  # fmt: skip
    yield Row("scripted 5-step run, against both", run_s * 1000, "ms", run_s / both_s,
              "<= 0.50", run_s <= both_s / 2)  # fmt: skip
    yield Row("commits of a scripted run", got["commits"], "commits")
    yield Row("WAL of a scripted run", got["wal"], "bytes")
