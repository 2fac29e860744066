"""Packets are swallowed and nobody is told: every wait has a bound, and nothing is done twice."""

import asyncio
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Any

import psycopg
import pytest

from lockgate import Runtime, StoreUnavailable
from lockgate.database import LINK
from lockgate.ending import blocking_link
from lockgate.link import BlockingLink, Link, LinkSilent
from tests.support.clients import clients_of
from tests.support.endpoint import Endpoint, endpoint_of
from tests.support.fault_proxy import Fault, Said, proxy_to
from tests.support.invariants import violations
from tests.support.scene import Scene, call
from tests.support.seen import seen
from tests.support.weather import AWAY, SOON_S, answer_sooner, beating

LEASE_MS = 2_000
HELLO = {"say": "Hello."}
# Above all bounds of one call together, and far below what a busy machine makes of them.
TOLD_WITHIN_S = 20.0


@pytest.fixture
def endpoint(scene: Scene) -> Iterator[Endpoint]:
    with endpoint_of(scene.url) as endpoint:
        yield endpoint
        scene.crew.close()


class Hole(Fault):
    """Swallows the statement, and what comes after it is no second one."""

    def is_met(self, data: bytes, said: Said) -> bool:
        return self.said[0] in data


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take a silent link for dead sooner in this process."""
    monkeypatch.setattr("lockgate.database.ANSWER_S", SOON_S)
    monkeypatch.setattr("lockgate.link.ANSWER_S", SOON_S)
    monkeypatch.setattr("lockgate.database.POOL_WAIT_S", SOON_S)


@pytest.mark.usefixtures("soon")
def test_an_entry_that_is_not_answered_says_that_nobody_knows(scene: Scene) -> None:
    """Each link swallows it: the entry gives up in time, and its repeat over a good link is one."""
    with proxy_to(scene.url) as proxy:
        far = scene.runtime(proxy.url, concurrent_entry_timeout_ms=100)
        scene.run(far.status("s1"))
        hole = proxy.put(Hole("black_hole", (b"lockgate.start(",), lasts=True))
        began = time.monotonic()
        with pytest.raises(StoreUnavailable) as told:
            started(scene, far)
        assert time.monotonic() - began < TOLD_WITHIN_S
        assert (told.value.committed, told.value.retryable) == (None, False)
        assert hole.hits == 2, "once more over another link, for it may be only the one"
        proxy.lift(hole)
        started(scene, far)
        assert scene.door.row("select count(*) as n from lockgate_store.runs").n == 1


@pytest.mark.usefixtures("soon")
def test_a_link_that_was_silent_is_never_used_again(scene: Scene, endpoint: Endpoint) -> None:
    far = scene.runtime(endpoint.url, concurrent_entry_timeout_ms=100)
    started(scene, far)
    before = set(endpoint.ports)
    endpoint.swallow()
    assert started(scene, far) == started(scene, far), "the call itself has found a link that works"
    seen(lambda: before.isdisjoint(endpoint.ports), "links as old as the silent one are closed")


def started(scene: Scene, runtime: Runtime) -> Any:
    work = runtime.start("s1", "scripted", "Hello.", request_key="k1")
    return scene.run(work).run_id


@pytest.mark.usefixtures("soon")
def test_who_is_cancelled_leaves_a_silent_link_soon(scene: Scene, endpoint: Endpoint) -> None:
    """As a prober's question is, and everything when a process ends."""

    async def cancelled() -> float:
        async with await Link.connect(endpoint.url, autocommit=True) as link:
            await link.execute("select 1")
            endpoint.swallow()
            began = time.monotonic()
            link.answer_s = 10 * TOLD_WITHIN_S
            with suppress(TimeoutError):
                async with asyncio.timeout(0.1):
                    await link.execute("select 1")
            assert link.closed
            return time.monotonic() - began

    assert scene.run(cancelled()) < TOLD_WITHIN_S


def test_a_statement_that_takes_too_long_is_cancelled_and_its_link_kept(scene: Scene) -> None:
    """The server hears the cancellation, so it is known that nothing was done."""

    async def late() -> None:
        async with await Link.connect(scene.url, autocommit=True) as link:
            link.answer_s = 0.1
            with pytest.raises(psycopg.errors.QueryCanceled):
                await link.execute("select pg_sleep(60)")
            link.answer_s = TOLD_WITHIN_S
            assert await (await link.execute("select 1")).fetchone() == (1,)

    scene.run(late())
    query = "select from pg_stat_activity where query like 'select pg_sleep%%'"
    assert scene.door.rows(query) == []


@pytest.mark.usefixtures("soon")
def test_dboss_links_have_the_same_bound(scene: Scene, endpoint: Endpoint) -> None:
    link = blocking_link(endpoint.url)
    link.execute("select 1")
    endpoint.swallow()
    with pytest.raises(LinkSilent):
        link.execute("select 1")
    assert link.closed
    with blocking_link(endpoint.url) as link:
        with pytest.raises(psycopg.errors.QueryCanceled):
            link.execute("select pg_sleep(60)")
        link.rollback()
        assert link.execute("select 1").fetchone() == (1,)


def test_the_kernel_is_told_to_notice_too(scene: Scene) -> None:
    """What a network swallows is not acknowledged, and that the kernel sees by itself."""
    with blocking_link(scene.url) as link:
        assert isinstance(link, BlockingLink)
        with socket.socket(fileno=socket.dup(link.fileno())) as kernel:
            found = [
                kernel.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE),
                *(
                    kernel.getsockopt(socket.IPPROTO_TCP, option)
                    for option in (
                        socket.TCP_USER_TIMEOUT,
                        socket.TCP_KEEPIDLE,
                        socket.TCP_KEEPINTVL,
                        socket.TCP_KEEPCNT,
                    )
                ),
            ]
    told = ("tcp_user_timeout", "keepalives_idle", "keepalives_interval", "keepalives_count")
    assert found == [1, *(LINK[name] for name in told)]


def test_a_worker_in_a_black_hole_is_fenced_off_and_lives_on(
    scene: Scene, endpoint: Endpoint
) -> None:
    """It starts no body, another one takes over, and when the link is back it drives again."""
    given = {"lease_ms": LEASE_MS, "prepare": answer_sooner}
    lost = scene.crew.worker("lost", url=endpoint.url, **given)
    lost_name = lost.ready()
    steps = [{"calls": [call("hold", gate="body")]}, {"calls": [call("add", a=1, b=2)]}]
    run = scene.start("s1", *steps, {"say": "Done."})
    scene.stage.seen("waits", gate="body")
    with endpoint.black_hole():
        other = scene.crew.worker("other", **given)
        other.ready()
        scene.stage.seen("waits", 2, gate="body")
        assert scene.door.run(run.run_id).attempt == 2
        scene.stage.open("body")
        row = scene.settled(run)
        assert (row.status, row.output) == ("completed", "Done.")
    assert [note["pid"] for note in scene.stage.notes("tool", name="add")] == [other.pid]
    beating(scene.door, [lost_name])
    other.kill()
    later = scene.start("s2", HELLO)
    assert scene.settled(later).output == "Hello."
    assert scene.stage.notes("model", run=later.run_id)[0]["pid"] == lost.pid
    assert [note["pid"] for note in scene.stage.notes("tool", name="add")] == [other.pid]
    assert violations(scene.door.connection) == []


def test_readiness_and_entries_are_answered_in_a_black_hole(
    scene: Scene, endpoint: Endpoint
) -> None:
    options = {"concurrent_entry_timeout_ms": 500}
    front = scene.crew.server(
        "A", "--no-worker", url=endpoint.url, options=options, prepare=answer_sooner
    )
    with ExitStack() as stack:
        (client,) = stack.enter_context(clients_of(front.ready()))
        client.started("s1", HELLO)
        with endpoint.black_hole():
            began = time.monotonic()
            answers = [client.http.get("/readyz"), client.start("s2", HELLO, key="k1")]
            assert client.http.get("/healthz").status_code == 200
            assert time.monotonic() - began < TOLD_WITHIN_S
            assert [answer.status_code for answer in answers] in ([503, 503], [503, 500])
            assert answers[1].json()["code"] == AWAY[1]
        seen(lambda: client.http.get("/readyz").status_code == 200)
        assert client.started("s2", HELLO, key="k1")["status"] in ("started", "attached")
        scene.crew.close()
