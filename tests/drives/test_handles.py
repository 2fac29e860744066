"""The handle of a run: its stream, its result, and what an attached one has in common with it."""

import asyncio
from uuid import uuid4

import pytest

from lockgate import (
    EntryRefused,
    RequestAlreadyCompleted,
    RequestKeyConflict,
    RunHandle,
    SessionHandle,
    WithMessage,
)
from lockgate.requests import Actor
from tests.support.proves import case
from tests.support.scene import Scene, call, collected, said
from tests.support.stage_agents import SCRIPTED

HELD = {"say": "One @hold:middle two."}


def test_a_stream_is_followed_live_from_the_run_s_start(driven: Scene) -> None:
    earlier = driven.start("s1", {"say": "Earlier."})
    driven.settled(earlier)
    run = driven.start("s1", HELD)

    async def follow() -> list[str]:
        words = []
        async for chunk in run.stream():
            words.append(chunk.get("delta", chunk["type"]))
            if words == ["One "]:
                driven.stage.open("middle")
        return words

    assert driven.run(follow()) == ["One ", "two.", "step_committed"]
    assert run.start_sequence == driven.door.run(earlier.run_id).end_sequence
    again = driven.run(collected(earlier.stream()))
    assert [chunk.get("delta") for chunk in again] == ["Earlier.", None]


def test_a_result_is_waited_for_and_can_be_asked_for_again(driven: Scene) -> None:
    run = driven.start("s1", HELD)

    async def wait() -> str:
        result = asyncio.create_task(run.result())
        await asyncio.to_thread(driven.stage.seen, "waits", gate="middle")
        assert not result.done()
        driven.stage.open("middle")
        return (await result).status

    assert driven.run(wait()) == "completed"
    assert driven.run(run.result()).output == "One two."
    later = driven.start("s1", {"say": "Later."})
    driven.settled(later)
    assert driven.run(run.result()).output == "One two."


def test_the_same_key_attaches_to_the_run_while_it_runs_and_after_it_ended(driven: Scene) -> None:
    first = driven.start("s1", HELD, request_key="k1")
    during = driven.start("s1", HELD, request_key="k1")
    driven.stage.open("middle")
    driven.settled(first)
    after = driven.start("s1", HELD, request_key="k1")

    assert [run.attached for run in (first, during, after)] == [False, True, True]
    assert {run.run_id for run in (first, during, after)} == {first.run_id}
    streams = [driven.run(collected(run.stream())) for run in (first, during, after)]
    assert streams[0] == streams[1] == streams[2]
    assert driven.run(after.result()) == driven.run(first.result())
    assert len(driven.stage.notes("model")) == 1


def test_a_key_with_other_input_or_of_an_older_turn_names_its_run(driven: Scene) -> None:
    first = driven.start("s1", {"say": "One."}, request_key="k1")
    driven.settled(first)
    with pytest.raises(RequestKeyConflict) as conflict:
        driven.start("s1", {"say": "Two."}, request_key="k1")
    assert conflict.value.run_id == str(first.run_id)
    driven.settled(driven.start("s1", {"say": "Two."}))
    with pytest.raises(RequestAlreadyCompleted) as completed:
        driven.start("s1", {"say": "One."}, request_key="k1")
    assert completed.value.run_id == str(first.run_id)
    assert len(driven.door.rows("select from lockgate_store.runs")) == 2


def test_the_same_call_with_a_chosen_run_id_is_the_same_run(driven: Scene) -> None:
    run_id = uuid4()
    runs = [driven.start("s1", {"say": "Once."}, run_id=run_id) for _ in range(3)]
    driven.settled(run_id)
    runs.append(driven.start("s1", {"say": "Once."}, run_id=run_id))

    assert {(run.run_id, run.attached) for run in runs} == {(run_id, False)}
    assert len(driven.door.rows("select from lockgate_store.runs")) == 1


def test_a_session_made_first_gives_its_state_and_identity_to_the_run(driven: Scene) -> None:
    driven.run(
        driven.own.create_session(
            "s1", SCRIPTED, state={"plan": "free"}, metadata={"from": "test"}, user_id="ann"
        )
    )
    run = driven.start("s1", {"say": "Hello."}, state={"seen": 1}, user_id="ann")
    assert driven.settled(run).status == "completed"
    session = driven.door.session("s1")
    assert (session.state, session.user_id) == ({"plan": "free", "seen": 1}, "ann")
    with pytest.raises(EntryRefused, match="another"):
        driven.start("s1", {"say": "Hello."}, user_id="bob")


def test_messages_in_parts_reach_the_model_as_they_are(driven: Scene) -> None:
    async def start() -> RunHandle:
        parts = [
            {"type": "text", "text": said({"calls": [call("add", a=20, b=22)]}, {"say": "Yes."})},
            {"type": "file", "mediaType": "image/png", "url": "https://example.org/a.png"},
        ]
        return await driven.own.start(
            "s1", SCRIPTED, [{"role": "user", "content": parts}, {"role": "user", "content": "?"}]
        )

    driven.settled(driven.run(start()))
    roles = [message.role for message in driven.door.messages()]
    assert roles[:2] == ["user", "user"]
    assert driven.door.messages()[0].content[1]["type"] == "file"


def test_twenty_runs_at_once_on_twenty_sessions_all_end(driven: Scene) -> None:
    async def all_of_them() -> list[str]:
        runs = [
            await driven.own.start(
                f"s{number}",
                SCRIPTED,
                said({"calls": [call("add", a=number, b=1)]}, {"say": f"{number}"}),
            )
            for number in range(20)
        ]
        return [str((await run.result()).output) for run in runs]

    assert driven.run(all_of_them()) == [str(number) for number in range(20)]


def handle(scene: Scene, session_id: str = "s1", **more: object) -> SessionHandle | None:
    given: dict[str, object] = {"agent_type": SCRIPTED, **more}
    return scene.run(scene.own.get_handle(session_id, **given))  # type: ignore[arg-type]


def test_a_session_is_found_again_with_its_current_run(driven: Scene) -> None:
    run = driven.start("s1", HELD, user_id="ann")
    found = handle(driven, actor=Actor("ann"))
    assert found is not None
    assert (found.session_id, found.agent_type, found.run_id) == ("s1", SCRIPTED, run.run_id)
    driven.stage.open("middle")
    assert found.run is not None
    assert found.run.attached is True
    assert driven.run(found.run.result()).output == "One two."
    assert driven.run(collected(found.run.stream())) == driven.run(collected(run.stream()))


def test_no_session_and_another_users_have_no_handle(driven: Scene) -> None:
    driven.run(driven.own.create_session("s1", SCRIPTED, user_id="ann"))
    assert handle(driven, "s9") is None
    assert handle(driven, actor=Actor("bob")) is None
    found = handle(driven, actor=Actor("ann"))
    assert found is not None
    assert (found.run, found.run_id) == (None, None)
    with pytest.raises(EntryRefused) as other:
        handle(driven, agent_type="short")
    assert (other.value.code, other.value.retryable) == ("state_agent_type_mismatch", False)


def test_a_handle_resumes_or_refuses_typed(driven: Scene) -> None:
    run = driven.start("s1", {"say": "Done."})
    driven.settled(run)
    found = handle(driven)
    assert found is not None
    with pytest.raises(EntryRefused) as over:
        driven.run(found.resume())
    assert (over.value.code, over.value.retryable) == ("state_not_resumable", False)
    assert driven.door.delete_session("s1").outcome == "deleted"
    with pytest.raises(EntryRefused) as gone:
        driven.run(found.resume(WithMessage("Hello?")))
    assert (gone.value.code, gone.value.retryable) == ("state_session_not_found", False)
    driven.settled(driven.start("s1", {"say": "Another life."}, agent_type="short"))
    with pytest.raises(EntryRefused) as other:
        driven.run(found.resume())
    assert other.value.code == "state_agent_type_mismatch"


@case(10)
@pytest.mark.parametrize("verb", ["interrupt", "abort"])
def test_a_handle_stops_the_run_it_has_found_and_no_later_one(driven: Scene, verb: str) -> None:
    run = driven.start("s1", HELD, user_id="ann")
    found = handle(driven, actor=Actor("ann"))
    assert found is not None
    driven.stage.seen("waits", gate="middle")
    stop = driven.run(getattr(found, verb)("enough", wait=True))
    assert (stop.status, stop.run_id) == ("stopped", run.run_id)
    assert driven.door.run(run.run_id).stop_reason == "enough"
    later = driven.start("s1", HELD, user_id="ann")
    driven.stage.seen("waits", 2, gate="middle")
    assert driven.run(getattr(found, verb)()).status == "not_running"
    driven.stage.open("middle")
    assert driven.run(later.result()).status == "completed"


@pytest.mark.parametrize("verb", ["interrupt", "abort"])
def test_a_handle_of_a_session_without_a_run_stops_none_that_comes(
    driven: Scene, verb: str
) -> None:
    driven.run(driven.own.create_session("s1", SCRIPTED))
    found = handle(driven)
    assert found is not None
    run = driven.start("s1", HELD)
    driven.stage.seen("waits", gate="middle")
    stop = driven.run(getattr(found, verb)())
    assert (stop.status, stop.run_id) == ("not_running", None)
    driven.stage.open("middle")
    assert driven.run(run.result()).status == "completed"
