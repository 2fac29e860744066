"""What runs leave in a history, sent to the strictest provider: calls paired, turns in turn."""

from tests.support.answers import continued, pending, submitted, suspended
from tests.support.histories import accepted
from tests.support.scene import Scene, call

ADD = call("add", a=1, b=2)
FINISH = call("__finish__", title="T")


def test_an_answered_an_approved_and_a_denied_call(driven: Scene) -> None:
    pay = call("pay", amount=1, to="me")
    calls = {"calls": [call("pick"), pay, pay, ADD], "think": "Hm."}
    run = driven.start("s1", calls, {"say": "Done."})
    pick, paid, denied = suspended(driven, run)
    submitted(driven, denied, approved=False)
    submitted(driven, pick, result=None)
    continued(driven, submitted(driven, paid, approved=True).run_id)
    assert accepted(driven.door) == ["user", "assistant", *["tool"] * 4, "assistant", "user"]


def test_an_output_with_siblings_and_one_without(driven: Scene) -> None:
    for calls in ([FINISH], [ADD, FINISH, call("pick")]):
        driven.settled(driven.start("s1", {"calls": calls}, agent_type="reporter"))
    assert accepted(driven.door)[-4:] == ["assistant", "tool", "tool", "user"]


def test_a_pending_call_that_was_talked_over(driven: Scene) -> None:
    run = driven.start("s1", {"calls": [call("pick"), ADD]}, {"say": "Never."})
    suspended(driven, run)
    driven.settled(driven.start("s1", {"say": "Instead."}))
    assert accepted(driven.door)[:5] == ["user", "assistant", "tool", "tool", "user"]


def test_a_step_that_a_stop_cut_off(driven: Scene) -> None:
    run = driven.start("s1", {"calls": [call("hold", gate="g"), call("pick"), ADD]})
    driven.stage.seen("waits", gate="g")
    driven.door.call("interrupt", session_id="s1")
    assert driven.settled(run).status == "interrupted"
    assert pending(driven, run.run_id) == []
    assert accepted(driven.door)[:5] == ["user", "assistant", "tool", "tool", "tool"]
