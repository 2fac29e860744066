"""The rules alone, by pgbench: the floor, start, a repeated key, one hot session, appends, WAL."""

from __future__ import annotations

import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import psycopg

from lockgate_ops.bench.rows import Row

SESSIONS = 5_000
REPEATED = 1_000
CLIENTS = 8
WAL_STARTS = 1_000
TEXT = "Please tell me what the weather is like in Ghent today."

FLOOR = """\\set n random(1, {sessions})
\\set k random(1, 2000000000000)
select * from lockgate_bench.floor('{prefix}' || :n,
  '[{{"type":"text","text":"{text}"}}]'::jsonb, 'k' || :k);
"""
START = """\\set n random(1, {sessions})
\\set k random(1, 2000000000000)
select * from lockgate.start(p_session_id => '{prefix}' || :n, p_agent_type => 'assistant',
  p_input => '{{"message":"{text}"}}', p_request_key => 'k' || :k, p_dispatch_limit_ms => 0);
"""
# With no living worker and a dispatch limit of 0 each run is left behind for the next entry.
RESUME = """\\set n random(1, {sessions})
\\set k random(1, 2000000000000)
select * from lockgate.resume(p_session_id => '{prefix}' || :n, p_agent_type => 'assistant',
  p_options => '{{"mode":"with_message","message":"{text}"}}', p_request_key => 'k' || :k,
  p_dispatch_limit_ms => 0);
"""
# A retry needs a session that failed, so a failure is part of both sides. Each client has a session
# of its own: nobody fails a run that another has just started.
FAIL = """select outcome from lockgate.commit_terminal('{prefix}' || (:client_id + 1),
  (select c.run_id from lockgate.get_current_run('{prefix}' || (:client_id + 1)) c), 'failed');
"""
RETRY = """\\set k random(1, 2000000000000)
select * from lockgate.retry(p_session_id => '{prefix}' || (:client_id + 1),
  p_agent_type => 'assistant', p_message => '"{text}"', p_request_key => 'k' || :k,
  p_dispatch_limit_ms => 0);
"""
FLOOR_OF_ONE = """\\set k random(1, 2000000000000)
select * from lockgate_bench.floor('{prefix}' || (:client_id + 1),
  '[{{"type":"text","text":"{text}"}}]'::jsonb, 'k' || :k);
"""
REPEAT = """\\set n random(1, {sessions})
select * from lockgate.start(p_session_id => '{prefix}' || :n, p_agent_type => 'assistant',
  p_input => '{{"message":"{text}"}}', p_request_key => 'repeated');
"""
# One writer a session, as in life: each client appends to a stream of its own, whose head it knows.
APPEND = """select head_sequence as head from lockgate.append_chunks(
  p_session_id => 'a' || :client_id,
  p_run_id => ('00000000-0000-0000-0000-00000000000' || :client_id)::uuid,
  p_attempt => 1, p_after => :head, p_chunks => array_fill(
    '{"type":"text_delta","agentId":"a","agentType":"assistant","step":1,"timestamp":1796046796351,
      "delta":"a word "}'::jsonb, array[32])) \\gset
"""
# Every session exists before the clock runs: two floors that make one would collide.
FILL = """
select count(*) from (
  select lockgate.start(p_session_id => '{prefix}' || i, p_agent_type => 'assistant',
    p_input => '{{"message":"{text}"}}', p_request_key => 'repeated')
    from generate_series(1, {sessions}) i) s
"""
WRITERS = """
select count(*) from (
  select lockgate.start(p_session_id => 'a' || i, p_agent_type => 'assistant',
    p_input => '{"message":"Count."}',
    p_run_id => ('00000000-0000-0000-0000-00000000000' || i)::uuid)
    from generate_series(0, 7) i) s
"""
WAL = """
select pg_current_wal_insert_lsn();
"""


@dataclass(frozen=True, slots=True)
class Pgbench:
    """A pgbench over one database."""

    program: Path
    url: str

    def rate(self, script: str, seconds: float) -> float:
        """Run a script for a while; returns transactions per second."""
        with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
            file.write(script)
            file.flush()
            done = subprocess.run(
                [self.program, "-n", "-M", "prepared", "-c", str(CLIENTS), "-j", "2",
                 "-D", "head=0", "-T", str(max(1, round(seconds))), "-f", file.name, self.url],
                capture_output=True, text=True,
            )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"pgbench: {done.stderr.strip()[-400:]}")
        printed = done.stdout
        failed = next(line for line in printed.splitlines() if "failed transactions" in line)
        if " 0 (" not in failed:
            raise RuntimeError(f"pgbench: {failed.strip()}")
        line = next(line for line in printed.splitlines() if line.startswith("tps"))
        return float(line.split()[2])

    def paired(self, one: str, other: str, seconds: float, pairs: int) -> tuple[float, float]:
        """Run two scripts in turns, so that a busy moment hits both; returns both medians."""
        rates = [(self.rate(one, seconds), self.rate(other, seconds)) for _ in range(pairs)]
        return statistics.median(a for a, _ in rates), statistics.median(b for _, b in rates)


def measure(program: Path, url: str, *, quick: bool) -> Iterator[Row]:
    """Measure every row of this module, one after the other."""
    bench = Pgbench(program, url)
    seconds, pairs = (1, 2) if quick else (6, 5)
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute(files(__package__).joinpath("floor.sql").read_bytes())
        for prefix, sessions in (("b", SESSIONS), ("r", REPEATED), ("hot", 1), ("f", CLIENTS)):
            conn.execute(_script(FILL, prefix, sessions).encode())
        conn.execute(WRITERS.encode())
        bench.rate(_script(START, "b"), 1 if quick else 5)
        conn.execute("vacuum analyze")
    floor, start = bench.paired(_script(FLOOR, "b"), _script(START, "b"), seconds, pairs)
    yield Row("the same writes without rules", floor, "starts/s")
    yield Row("start, keyed", start, "starts/s", start / floor, ">= 0.80", start / floor >= 0.8)
    floor, resume = bench.paired(_script(FLOOR, "b"), _script(RESUME, "b"), seconds, pairs)
    yield Row("resume, keyed, with a message", resume, "resumes/s", resume / floor)
    floor, retry = bench.paired(
        _script(FAIL + FLOOR_OF_ONE, "f"), _script(FAIL + RETRY, "f"), seconds, pairs
    )
    yield Row("retry of a failed run, keyed", retry, "retries/s", retry / floor)
    repeat = bench.rate(_script(REPEAT, "r", REPEATED), seconds)
    yield Row("repeated key", repeat, "calls/s", repeat / start, ">= 2.5", repeat / start >= 2.5)
    hot_floor, hot = bench.paired(
        _script(FLOOR, "hot", sessions=1), _script(START, "hot", sessions=1), seconds, pairs
    )
    yield Row(
        "one hot session", hot, "starts/s", hot / hot_floor, ">= 0.80", hot / hot_floor >= 0.8
    )
    appends = bench.rate(APPEND, seconds) * 32
    yield Row("chunk append, 32 a batch", appends, "chunks/s", None, ">= 100,000", appends >= 1e5)
    wal = _wal_per_start(url)
    yield Row("WAL of a start, without page images", wal, "bytes", None, "<= 3,072", wal <= 3072)


def _script(template: str, prefix: str, sessions: int = SESSIONS) -> str:
    return template.format(sessions=sessions, prefix=prefix, text=TEXT)


def _wal_per_start(url: str) -> float:
    """Measure with page images off, which only a superuser of a private server may say."""
    with psycopg.connect(url, autocommit=True) as conn:
        read: Callable[[str], str] = lambda text: str(conn.execute(text.encode()).fetchone()[0])  # type: ignore[index]  # noqa: E731
        conn.execute("alter system set full_page_writes = off")
        conn.execute("select pg_reload_conf(), pg_sleep(0.2)")
        before = read(WAL)
        for number in range(WAL_STARTS):
            conn.execute(
                "select lockgate.start(p_session_id => %s, p_agent_type => 'assistant', "
                "p_input => %s, p_request_key => %s, p_dispatch_limit_ms => 0)",
                (f"b{number + 1}", f'{{"message":"{TEXT}"}}', f"wal-{number}"),
            )
        after = read(WAL)
        conn.execute("alter system reset full_page_writes")
        conn.execute("select pg_reload_conf()")
        row = conn.execute("select pg_wal_lsn_diff(%s, %s)", (after, before)).fetchone()
        assert row is not None
        return float(row[0]) / WAL_STARTS
