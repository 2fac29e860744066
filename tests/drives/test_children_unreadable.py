"""A remote child whose host is not understood: it is asked again, and never forgotten."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

import lockgate.remote_children
from lockgate import RemoteChildren
from lockgate.errors import EntryRefused, RunSuperseded
from lockgate.remote import ChildAddress, ChildStatus, RemoteProtocolValidationError
from lockgate.remote_children import (
    ChildCall,
    NewChild,
    begin_remote,
    child_of,
    follow_remote,
    run_remote,
)
from tests.support.house import House
from tests.support.peer import Answer

BROUGHT = {"status": "completed", "output": {"far": "out"}}
CALL = ChildCall("call-0", 1, 1)
NEW = NewChild("far", {"message": "go far"})
BUSY_HOST = Answer(503, {"error": "no", "code": "INTERNAL_ERROR"})
UNKNOWN = Answer(body={"status": "confused"})


@pytest.fixture
def far(house: House, monkeypatch: pytest.MonkeyPatch) -> RemoteChildren:
    """The host of a child that an attempt before this one has recorded and started."""
    monkeypatch.setattr(lockgate.remote_children, "STATUS_EVERY_S", 0.01)
    monkeypatch.setattr(lockgate.remote_children, "LOST_AFTER_S", 0.3)
    host = RemoteChildren(house.peer.url, timeout_s=2.0)
    house.scene.run(begin_remote(house.scope, host, CALL, NEW))
    return host


@pytest.mark.parametrize(
    "said",
    [
        BUSY_HOST,
        UNKNOWN,
        Answer(502, b"<html>bad gateway</html>"),
        Answer(404, b"<html>no such page</html>"),
        Answer(200, b"<html>please log in</html>"),
    ],
    ids=["503", "unknown status", "gateway", "page", "login"],
)
def test_an_attempt_that_finds_a_child_recorded_asks_until_somebody_says(
    house: House, far: RemoteChildren, said: Answer
) -> None:
    """Or its parent would be suspended for a child that nobody asks for any more."""
    house.peer.says("status", said, said, Answer(body=BROUGHT))
    house.scene.run(run_remote(house.scope, far, CALL, NEW))

    assert (house.record().status, house.record().output) == ("completed", {"far": "out"})
    assert len(house.peer.heard("start")) == 1


def test_a_refusal_of_its_status_is_recorded_as_its_loss(house: House, far: RemoteChildren) -> None:
    house.peer.says("status", Answer(403, {"error": "no", "code": "FORBIDDEN"}))
    house.scene.run(run_remote(house.scope, far, CALL, NEW))

    assert house.record().error_detail["cause"] == "refused:FORBIDDEN"


def test_a_host_that_never_makes_sense_loses_its_child(house: House, far: RemoteChildren) -> None:
    house.peer.says("status", UNKNOWN)
    house.scene.run(run_remote(house.scope, far, CALL, NEW))

    assert (house.record().status, house.record().error_detail["cause"]) == (
        "failed",
        "status_unreachable",
    )


def taken_over(house: House) -> None:
    """Hand the parent's run to another worker, behind the back of this attempt."""
    house.db.requeue(house.scope.run_id, "raised")
    house.db.claim(house.scope.run_id, worker_id="worker-2")


def test_an_attempt_that_was_taken_over_ends_no_child(house: House, far: RemoteChildren) -> None:
    """Or what the child brings to the next attempt would be lost."""
    house.peer.says("status", BUSY_HOST)
    taken_over(house)
    with pytest.raises(RunSuperseded):
        house.scene.run(follow_remote(house.scope, far, child_of(house.scope, CALL, NEW)))

    assert house.record().status == "running"
    assert house.scope.around.tally.fenced_writes == 1
    with pytest.raises(RunSuperseded):
        house.scene.run(house.scope.writer.check())


def lapsing(house: House) -> SimpleNamespace:
    """Have the worker's promise be what the test says of it."""
    promise = SimpleNamespace(lapses=0)
    house.scope.around = replace(house.scope.around, lapses=lambda: promise.lapses)
    return promise


def test_a_worker_that_was_away_asks_for_no_child_of_a_run_it_lost(
    house: House, far: RemoteChildren
) -> None:
    house.peer.says("status", Answer(body={"status": "active"}))
    taken_over(house)
    lapsing(house).lapses += 1
    with pytest.raises(RunSuperseded):
        house.scene.run(follow_remote(house.scope, far, child_of(house.scope, CALL, NEW)))

    assert (house.record().status, len(house.peer.heard("status"))) == ("running", 1)


@pytest.mark.parametrize("was_away", [True, False], ids=["away", "there"])
def test_a_hosts_silence_is_not_as_long_as_the_worker_was_away(
    house: House, monkeypatch: pytest.MonkeyPatch, was_away: bool
) -> None:
    """The first ask takes an hour and brings nothing: where the worker was away, who was silent?"""
    promise, clock = lapsing(house), SimpleNamespace(now_s=0.0)
    monkeypatch.setattr(lockgate.remote_children, "STATUS_EVERY_S", 0.01)
    fake = SimpleNamespace(monotonic=lambda: clock.now_s)
    monkeypatch.setattr(lockgate.remote_children, "time", fake)

    class Slow(RemoteChildren):
        async def status(self, child: ChildAddress) -> ChildStatus:
            if clock.now_s:
                return await super().status(child)
            clock.now_s += 3_600
            promise.lapses += was_away
            raise EntryRefused("transport_error", "no answer")

    house.peer.says("status", Answer(body=BROUGHT))
    house.scene.run(run_remote(house.scope, Slow(house.peer.url), CALL, NEW))

    assert house.record().status == ("completed" if was_away else "failed")


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"errorDetail": "boom", "error": "it broke"}, {"message": "it broke"}),
        ({"errorDetail": ["boom"]}, None),
        (
            {"errorDetail": {"message": "password=hunter2 is wrong", "stack": "/srv/app/x.py"}},
            {"message": "password=[REDACTED] is wrong"},
        ),
    ],
)
def test_what_a_host_says_of_a_failure_is_made_safe(
    house: House, far: RemoteChildren, body: dict[str, Any], detail: Any
) -> None:
    house.peer.says("status", Answer(body={"status": "failed", **body}))
    child = child_of(house.scope, CALL, NEW)

    assert house.scene.run(far.status(child)) == ChildStatus("failed", error_detail=detail)


@pytest.mark.parametrize("status", ["confused", "deleted", "", 7, None])
def test_a_status_that_nobody_knows_is_none(house: House, far: RemoteChildren, status: Any) -> None:
    house.peer.says("status", Answer(body={"status": status}))
    with pytest.raises(RemoteProtocolValidationError):
        house.scene.run(far.status(child_of(house.scope, CALL, NEW)))


def test_an_output_that_no_history_should_carry_is_the_childs_failure(
    house: House, far: RemoteChildren
) -> None:
    house.peer.status({"status": "completed", "output": "x" * 1_000_000})
    house.scene.run(run_remote(house.scope, far, CALL, NEW))

    assert (house.record().status, house.record().output) == ("failed", None)
    assert "1 MB" in house.record().error_detail["message"]
