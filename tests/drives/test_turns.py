"""A scripted run over every kind of turn: what is said, stored, streamed and shown afterwards."""

from typing import Any

from lockgate import RunHandle
from tests.support.proves import case
from tests.support.scene import Scene, call, collected
from tests.support.seen import seen

ANSWERED = "select from lockgate_store.tool_calls where response is not null"


def parts(scene: Scene, session_id: str = "s1") -> list[tuple[str, list[Any]]]:
    """Return a session's history as the store has it."""
    return [(message.role, message.content) for message in scene.door.messages(session_id)]


def shown(scene: Scene, session_id: str = "s1") -> Any:
    return scene.run(scene.own.snapshot(session_id))


def chunks(scene: Scene, run: RunHandle) -> list[dict[str, Any]]:
    return scene.run(collected(run.stream()))


def kinds(of: list[dict[str, Any]]) -> list[str]:
    """Return the types of chunks in their order, each run of one type once."""
    names = [chunk["type"] for chunk in of]
    return [name for place, name in enumerate(names) if place == 0 or names[place - 1] != name]


def test_a_reply_is_streamed_word_by_word_and_stored_once(driven: Scene) -> None:
    run = driven.start("s1", {"say": "Good day to you.", "think": "Be polite."})
    streamed = chunks(driven, run)

    assert kinds(streamed) == ["thinking", "text_delta", "step_committed"]
    assert "".join(chunk.get("delta", "") for chunk in streamed) == "Good day to you."
    assert [chunk["isComplete"] for chunk in streamed if chunk["type"] == "thinking"] == [
        False,
        True,
    ]
    assert parts(driven)[1] == (
        "assistant",
        [
            {"type": "thinking", "text": "Be polite."},
            {"type": "text", "text": "Good day to you."},
        ],
    )
    result = driven.run(run.result())
    assert (result.status, result.output, result.error_detail) == (
        "completed",
        "Good day to you.",
        None,
    )
    snapshot = shown(driven)
    assert (snapshot.session_status, snapshot.run_status) == ("completed", "completed")
    assert snapshot.stream_sequence == driven.door.stream().head_sequence == len(streamed)


def test_calls_run_side_by_side_and_their_results_keep_the_order_of_the_calls(
    driven: Scene,
) -> None:
    run = driven.start(
        "s1",
        {
            "calls": [
                call("hold", gate="first"),
                call("add", a=1, b=2),
                call("boom", message="it broke"),
                call("nobody"),
                call("add", a="x", b=2),
                {"tool": "add", "args": "no object"},
            ]
        },
        {"say": "Done."},
    )
    answered = driven.stage.seen("tool", name="add", run=run.run_id)
    assert len(answered) == 1, "the others never reached a body"
    seen(lambda: len(driven.door.rows(ANSWERED)) == 5, "the other five have their results")
    driven.stage.open("first")
    assert driven.settled(run).status == "completed"

    history = parts(driven)
    assert [role for role, _ in history] == ["user", "assistant", "tool", "assistant"]
    results = [
        part.get("result", part.get("error")) for part in history[2][1] if part["type"] != "text"
    ]
    assert results[:3] == ["passed first", 3, "it broke"]
    assert results[3] == "There is no tool named 'nobody'"
    assert results[4].startswith("The arguments do not fit the tool: a: ")
    assert results[5] == "The arguments are not a JSON object"
    asked, told = ([part["toolCallId"] for part in history[n][1]] for n in (1, 2))
    assert asked == told
    ends = [chunk["toolCallId"] for chunk in driven.door.chunks() if chunk["type"] == "tool_end"]
    assert sorted(ends) == sorted(asked)
    assert ends[-1] == asked[0], "the one that was held ended last"
    assert [note["messages"] for note in driven.stage.notes("model")] == [1, 3]


@case(20)
def test_a_tool_that_would_end_the_program_fails_and_nothing_else(driven: Scene) -> None:
    ways = ("exit", "key", "cancel")
    run = driven.start(
        "s1", {"calls": [call("leave", how=how) for how in ways]}, {"say": "Still here."}
    )
    assert driven.settled(run).output == "Still here."
    assert [result["success"] for result in parts(driven)[2][1]] == [False] * 3
    again = driven.start("s2", {"say": "And now."})
    assert driven.settled(again).status == "completed"
    assert len({note["pid"] for note in driven.stage.notes("model")}) == 1


def test_what_a_tool_emits_comes_between_its_call_and_its_result(driven: Scene) -> None:
    run = driven.start("s1", {"calls": [call("tell", name="progress")]}, {"say": "Told."})
    streamed = chunks(driven, run)
    types = [chunk["type"] for chunk in streamed]
    place = types.index("custom")

    assert types.index("tool_start") < place < types.index("tool_end")
    assert streamed[place]["eventName"] == "progress"
    assert streamed[place]["data"] == {"from": streamed[types.index("tool_end")]["toolCallId"]}


def test_an_output_ends_the_run_with_its_value(driven: Scene) -> None:
    value = {"total": 12.5, "items": ["a", "b"], "none": None}
    run = driven.start("s1", {"output": value})
    result = driven.run(run.result())

    assert (result.status, result.output) == ("completed", value)
    assert driven.run(driven.own.status("s1")).output == value  # type: ignore[union-attr]
    assert "output" in kinds(driven.door.chunks())


def test_a_failure_that_may_pass_repeats_the_call_and_takes_the_text_back(driven: Scene) -> None:
    run = driven.start("s1", {"say": "Half a @break:line sentence."})
    result = driven.run(run.result())

    assert (result.status, result.output) == ("completed", "Half a sentence.")
    assert len(driven.stage.notes("model")) == 2
    resync = next(c for c in driven.door.chunks() if c["type"] == "stream_resync")
    assert (resync["runId"], resync["attempt"], resync["committedSequence"]) == (
        str(run.run_id),
        1,
        0,
    )
    assert driven.text("s1") == "Half a sentence."
    assert len(parts(driven)) == 2


def test_a_failure_that_stays_ends_the_run_after_three_repeats(driven: Scene) -> None:
    failure = {"code": "provider_rate_limited", "retryable": True, "message": "Too many."}
    run = driven.start("s1", {"say": "One."}, {"fail": failure})
    assert driven.settled(run).status == "completed", "a say ends a run"
    again = driven.start("s1", {"calls": [call("add", a=1, b=1)]}, {"fail": failure})
    result = driven.run(again.result())

    assert result.status == "failed"
    assert result.error_detail == {
        "message": "Too many.",
        "code": "provider_rate_limited",
        "category": "provider",
        "retryable": True,
    }
    calls = driven.stage.notes("model", run=again.run_id)
    assert [note["step"] for note in calls] == [1, 2, 2, 2, 2]
    assert [role for role, _ in parts(driven)][2:] == ["user", "assistant", "tool"]
    assert driven.door.run(again.run_id).attempt == 2, "one attempt, and its end"


def test_a_failure_that_is_none_to_repeat_ends_the_run_at_once(driven: Scene) -> None:
    run = driven.start("s1", {"fail": {"message": "No <such> model."}})
    result = driven.run(run.result())

    assert result.status == "failed"
    assert result.error_detail == {
        "message": "No &lt;such&gt; model.",
        "code": "provider_error",
        "category": "provider",
        "retryable": False,
    }
    assert len(driven.stage.notes("model")) == 1
    snapshot = shown(driven)
    assert (snapshot.session_status, snapshot.stream_status) == ("failed", "failed")
    assert snapshot.error_detail == result.error_detail


def test_a_run_that_needs_more_steps_than_it_has_fails(driven: Scene) -> None:
    turns = [{"calls": [call("add", a=n, b=n)]} for n in range(3)]
    run = driven.start("s1", *turns, {"say": "Never."}, agent_type="short")
    row = driven.settled(run)

    assert (row.status, row.step_count) == ("failed", 2)
    assert row.error_detail["code"] == "framework_max_steps"
    assert row.error_detail["retryable"] is False
    assert len(driven.stage.notes("tool")) == 2


MALFORMED = {
    "script: [": "cannot be read",
    "script: {}": "no list of turns",
    'script: [{"say": "a", "calls": []}]': "exactly one of",
    'script: [{"say": "a"}, {"sing": "b"}]': "Turn 2 needs",
}


def test_a_malformed_script_fails_typed_before_its_first_turn(driven: Scene) -> None:
    for number, (message, says) in enumerate(MALFORMED.items()):
        row = driven.settled(driven.start(f"s{number}", message))
        assert (row.status, row.error_detail["code"]) == ("failed", "validation_error")
        assert says in row.error_detail["message"]
        assert [role for role, _ in parts(driven, f"s{number}")] == ["user"]


def test_an_agent_type_that_no_worker_knows_ends_typed(driven: Scene) -> None:
    """Plain SQL asks no agent; the worker is the first who could know."""
    answer = driven.door.start("s1", "hi", agent_type="nobody")
    driven.wake()
    row = driven.settled(answer.run_id)

    assert row.status == "failed"
    assert row.error_detail["code"] == "framework_agent_not_found"
    assert row.error_detail["retryable"] is False
    assert driven.door.session("s1").status == "failed"
    assert driven.door.stream("s1").status == "failed"
    assert driven.settlements(row.run_id) == ["failed"]
    assert driven.stage.notes("model") == []


def test_a_session_goes_on_after_each_kind_of_end(driven: Scene) -> None:
    ends = [
        driven.settled(driven.start("s1", message)).status
        for message in ("no script", 'script: [{"fail": {}}]', 'script: [{"output": 1}]', "script:")
    ]
    assert ends == ["completed", "failed", "completed", "failed"]
    assert driven.door.session("s1").turn_count == 4
