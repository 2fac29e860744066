"""S36: the recovered run is not announced, or its half text is doubled."""

from tests.support.clients import Client, Event, Reader, clients_of, terminal, text_of
from tests.support.proves import case
from tests.support.scene import Scene
from tests.support.seen import seen

SAYS = {"say": "@first Hello wor @hold:dies ld. @later Hi there"}
A_DAY_EARLIER = (
    "update lockgate_store.sessions set created_at = created_at - interval '1 day',"
    " updated_at = updated_at - interval '1 day'",
    "update lockgate_store.runs set started_at = started_at - interval '1 day',"
    " dispatch_at = dispatch_at - interval '1 day', claimed_at = claimed_at - interval '1 day',"
    " completed_at = completed_at - interval '1 day'",
    "update lockgate_store.messages set created_at = created_at - interval '1 day'",
    "update lockgate_store.settlements set settled_at = settled_at - interval '1 day'",
)


def shows_the_new_text_once(events: list[Event]) -> None:
    """Hold what a watcher is left with, and that the new attempt took the half text back."""
    assert text_of(events) == "Hi there"
    assert [event.name for event in terminal(events)] == ["end"]
    assert events[-1].name == "end"
    chunks = [event for event in events if event.name == "chunk"]
    assert [event.sequence for event in chunks] == list(range(1, len(chunks) + 1)), "each once"
    resyncs = [event for event in chunks if event.chunk["type"] == "stream_resync"]
    assert [event.chunk["attempt"] for event in resyncs] == [2]
    half = "".join(
        e.chunk["delta"]
        for e in chunks
        if e.sequence < resyncs[0].sequence and e.chunk["type"] == "text_delta"
    )
    assert half == "Hello wor "


def snapshot_agrees(client: Client, run_id: str) -> None:
    snapshot = client.snapshot("s1")
    assert (snapshot["status"], client.status("s1")["status"]) == ("ended", "completed")
    shown = [m for m in snapshot["messages"] if m["role"] == "assistant"]
    parts = [part for message in shown for part in message["parts"]]
    texts = [part["text"] for part in parts if part["type"] == "text"]
    assert ([message["id"] for message in shown], texts) == ([f"msg_{run_id}"], ["Hi there"])


@case(36)
def test_whoever_watches_is_left_with_the_text_of_the_worker_that_went_on(scene: Scene) -> None:
    front = scene.crew.server("front", "--no-worker")
    dies = scene.crew.worker("A")
    dies.ready()
    scene.listened_to(1)
    with clients_of(front.ready()) as (client,):
        run_id = client.started("s1", SAYS)["runId"]
        scene.stage.seen("waits", pid=dies.pid)
        stays, leaves = Reader(client, "s1"), client.events("s1")
        stays.seen(2)
        before = [next(leaves) for _ in range(2)]
        leaves.close()
        assert text_of(before) == text_of(stays.named("chunk")) == "Hello wor "
        seen(lambda: not scene.door.messages("s1")[1:], "nothing of it is a message")
        dies.kill()
        scene.crew.worker("B").ready()
        comes_back = Reader(client, "s1", last_id=before[-1].id)
        shows_the_new_text_once(stays.ended())
        shows_the_new_text_once([*before, *comes_back.ended()])
        snapshot_agrees(client, run_id)
    front.kill()
    for statement in A_DAY_EARLIER:
        scene.door.execute(statement)
    with clients_of(scene.crew.server("a day later", "--no-worker").ready()) as (client,):
        shows_the_new_text_once(list(client.events("s1", after=0)))
        snapshot_agrees(client, run_id)
        scene.crew.close()
