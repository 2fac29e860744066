"""Each sentence of invariants.sql is seen broken where a test breaks it."""

import pytest

from lockgate_ops.invariants import invariants
from tests.support.cluster import LentDatabase
from tests.support.door import Door, tool
from tests.support.invariants import broken_sentences, violations
from tests.support.suspensions import approval, client, decision, delegated, subagent, submit

# What breaks each sentence. `ended` is a session with one completed run of two steps, `live` one
# with a run that is driven; `paused` is made for those who name it.
PLANTED: dict[str, str] = {
    "A session has at most one live run.": """
      drop index lockgate_store.runs_one_live;
      insert into lockgate_store.runs (session_id, run_id, turn, drive, start_digest, drive_id,
          dispatch_at, start_sequence, started_at)
        select session_id, gen_random_uuid(), 2, drive, start_digest, gen_random_uuid(),
               dispatch_at, start_sequence, started_at
          from lockgate_store.runs where session_id = 'live'""",
    "A request key names one run.": """
      drop index lockgate_store.runs_request_key_once;
      update lockgate_store.runs set request_key = 'k', request_digest = 'd', session_id = 'ended',
        turn = case session_id when 'ended' then 1 else 2 end""",
    "The runs of a session are its turns, and the last one is current.": """
      update lockgate_store.sessions set turn_count = 2 where session_id = 'ended'""",
    "A session's status is that of its current run.": """
      update lockgate_store.sessions set status = 'active' where session_id = 'ended'""",
    "A run's input is appended once, in one piece.": """
      insert into lockgate_store.messages (session_id, seq, role, content, run_id, created_at)
        select session_id, 5, role, content, run_id, created_at
          from lockgate_store.messages where session_id = 'ended' and seq = 1""",
    "Messages are numbered 1 to message_count.": """
      delete from lockgate_store.messages where session_id = 'ended' and seq = 2""",
    "A message belongs to a run that exists.": """
      update lockgate_store.messages set run_id = gen_random_uuid() where session_id = 'live'""",
    "A run has a checkpoint for each committed step.": """
      delete from lockgate_store.checkpoints where step = 1""",
    "A call in an ended run's history has one result, which comes after it.": """
      update lockgate_store.messages set content = '[]' where role = 'tool'""",
    "An open call belongs to a live run.": """
      update lockgate_store.tool_calls set status = 'pending' where session_id = 'ended'""",
    "A suspended run waits for something, or has gone on.": """
      update lockgate_store.tool_calls
         set status = 'answered', response = '{"success": true, "result": 1}'
       where session_id = 'paused'""",
    "A sub-agent that a suspended run waits for is a child that has not ended.": """
      delete from lockgate_store.children where session_id = 'paused'""",
    "A sub-agent that has ended is known to its parent.": """
      update lockgate_store.runs set status = 'completed', completed_at = now()
       where session_id in (
        select child_session_id from lockgate_store.children where session_id = 'paused')""",
    "What was used belongs to a run that exists.": """
      insert into lockgate_store.usage (session_id, run_id, step, source, kind, detail, recorded_at)
        values ('ended', gen_random_uuid(), 1, 'agent', 'custom', '{}', now())""",
    "A stream is active exactly while its session's current run is running.": """
      update lockgate_store.streams set status = 'active', final = null
       where session_id = 'ended'""",
    "A stream and its run carry the same fence.": """
      update lockgate_store.streams set attempt = attempt + 1 where session_id = 'live'""",
    "Chunks above the floor are numbered without a gap up to the head.": """
      delete from lockgate_store.stream_chunks where session_id = 'live' and last_sequence = 2""",
    "A run's chunks lie between its start and the next run's.": """
      update lockgate_store.runs set start_sequence = 1 where session_id = 'live'""",
    "A run that is not running has its settlement, and a running one has none.": """
      delete from lockgate_store.settlements""",
    "A settlement is due to each consumer, once, and nothing else is.": """
      insert into lockgate_store.consumers values ('late', now())""",
    "A crash-loop budget belongs to a live run.": """
      insert into lockgate_store.recoveries (session_id, run_id, attempts, next_at)
        select session_id, run_id, 1, now() from lockgate_store.runs where session_id = 'ended'""",
    "A drive belongs to a run, or to a life of its session that has ended.": """
      select lockgate.enqueue_drive('', 'live', gen_random_uuid(), gen_random_uuid())""",
    "A running run has the workflow of its drive.": """
      delete from dbos.workflow_status""",
    "A drive is of one run.": """
      update lockgate_store.runs set drive_id = '00000000-0000-4000-8000-000000000000'""",
}


@pytest.fixture
def healthy(rules_db: LentDatabase) -> Door:
    """A database in which everything holds."""
    door = Door(rules_db.warm)
    ended = door.driven("ended")
    ended.reply(1, "let me look", tool("a"))
    ended.result(1, 1)
    ended.step(1)
    ended.reply(2, "done")
    ended.finish()
    live = door.driven("live")
    for text in ("a", "b", "c"):
        live.append(text)
    assert violations(rules_db.warm) == []
    return door


def pause(door: Door) -> None:
    """Make session `paused`: its run waits for a client and for a sub-agent."""
    drive = door.driven("paused")
    drive.reply(1, "", client(), subagent())
    delegated(door, drive)
    drive.suspend()
    assert violations(door.connection) == []


@pytest.mark.parametrize("sentence", PLANTED)
def test_a_planted_violation_is_found(healthy: Door, sentence: str) -> None:
    if "'paused'" in PLANTED[sentence]:
        pause(healthy)
    healthy.connection.execute(PLANTED[sentence].encode())

    assert sentence in broken_sentences(healthy.connection)


def test_every_sentence_has_its_violation() -> None:
    assert list(PLANTED) == list(invariants())


STATUS = "A session's status is that of its current run."
INPUT = "A run's input is appended once, in one piece."
STEPS = "A run has a checkpoint for each committed step."
PAIRED = "A call in an ended run's history has one result, which comes after it."
SETTLED = "A run that is not running has its settlement, and a running one has none."
SUSPEND = "insert into lockgate_store.settlements select tenant_id, session_id, run_id,"


@pytest.mark.parametrize(
    ("sentence", "change"),
    [
        # Only a start that its caller named can have been written as paused.
        (STATUS, "update lockgate_store.sessions set status = 'paused' where session_id = 'live'"),
        # The terminal commit said otherwise.
        (STATUS, "update lockgate_store.sessions set status = 'failed' where session_id = 'ended'"),
        # Nobody has gone back: the input must be there, and so must each checkpoint.
        (INPUT, "delete from lockgate_store.messages where session_id = 'ended' and seq = 1"),
        (STEPS, "delete from lockgate_store.checkpoints where step = 2"),
        (STEPS, "update lockgate_store.runs set step_count = 1 where session_id = 'ended'"),
        # An attempt that was never ended has settled as nothing.
        (SETTLED, f"{SUSPEND} 'suspended_client_tool', now() from lockgate_store.runs"),
        # A run has one end.
        (SETTLED, f"{SUSPEND} 'failed', now() from lockgate_store.runs where session_id = 'ended'"),
        # A suspended run that nobody continues settles when it is superseded, too.
        (
            SETTLED,
            "update lockgate_store.settlements set status = 'suspended_client_tool';"
            "update lockgate_store.runs set status = 'superseded' where session_id = 'ended'",
        ),
    ],
)
def test_what_a_store_client_may_do_is_no_excuse_for_us(
    healthy: Door, sentence: str, change: str
) -> None:
    healthy.connection.execute(change.encode())

    assert sentence in broken_sentences(healthy.connection)


@pytest.fixture
def gone_back(healthy: Door) -> Door:
    """Session `ended`, taken back to its first step by a later run, which then ended, too."""
    first = healthy.session("ended").current_run_id
    options = {"mode": "from_checkpoint", "checkpointId": f"{first}:1"}
    healthy.execute(
        "update lockgate_store.sessions set terminal_status = 'interrupted'"
        " where terminal_run_id = %s",
        first,
    )
    again = healthy.drive(healthy.resume("ended", options=options).run_id)
    again.reply(1, "", tool("b"))
    again.result(1, 1)
    again.step(1)
    again.reply(2, "done")
    again.finish()
    assert violations(healthy.connection) == []
    return healthy


@pytest.mark.parametrize(
    ("sentence", "change"),
    [
        # A gap is no rewind, and what the last run committed nobody has gone back behind.
        (STEPS, "delete from lockgate_store.checkpoints where turn = 2 and step = 1"),
        (STEPS, "delete from lockgate_store.checkpoints where turn = 2 and step = 2"),
        (STEPS, "update lockgate_store.checkpoints set step = 2 where turn = 1"),
        (PAIRED, "update lockgate_store.messages set content = '[]' where seq = 3"),
        (
            PAIRED,
            "insert into lockgate_store.messages select tenant_id, session_id, 7, role, content,"
            " run_id, step, client_id, created_at from lockgate_store.messages where seq = 3",
        ),
    ],
)
def test_a_rewind_excuses_only_what_it_cuts(gone_back: Door, sentence: str, change: str) -> None:
    gone_back.execute(change)

    assert sentence in broken_sentences(gone_back.connection)


@pytest.mark.parametrize(
    "change",
    [
        "delete from lockgate_store.stream_chunks where last_sequence = 3",
        "delete from lockgate_store.stream_chunks where last_sequence = 1",
        "update lockgate_store.streams set head_sequence = 9 where session_id = 'live'",
        "delete from lockgate_store.stream_chunks where session_id = 'live'",
    ],
)
def test_a_gap_is_found_wherever_it_is(healthy: Door, change: str) -> None:
    healthy.execute(change)

    assert broken_sentences(healthy.connection) == {
        "Chunks above the floor are numbered without a gap up to the head."
    }


def test_a_floor_inside_or_at_the_end_of_a_batch_is_no_gap(healthy: Door) -> None:
    for floor in (1, 2):
        healthy.execute(
            "update lockgate_store.streams set committed_sequence = 3, floor_sequence = %s"
            " where session_id = 'live'",
            floor,
        )
        healthy.execute(
            "delete from lockgate_store.stream_chunks where session_id = 'live'"
            " and last_sequence <= %s",
            floor,
        )
        assert violations(healthy.connection) == []


WAITS = "A sub-agent that a suspended run waits for is a child that has not ended."
KNOWN = "A sub-agent that has ended is known to its parent."


@pytest.mark.parametrize(
    ("sentence", "change"),
    [
        # The parent knows of the end, and its call does not.
        (WAITS, "update lockgate_store.children set ended_at = now()"),
        # Its first entry failed before any run was.
        (
            KNOWN,
            "update lockgate_store.sessions set status = 'failed', current_run_id = null,"
            " turn_count = 0 where parent_session_id = 'paused'",
        ),
    ],
)
def test_a_child_whose_end_got_lost_is_found(healthy: Door, sentence: str, change: str) -> None:
    pause(healthy)
    healthy.execute(change)

    assert sentence in broken_sentences(healthy.connection)


def test_a_step_that_goes_over_excuses_its_own_calls_while_they_are_open(healthy: Door) -> None:
    drive = healthy.driven("approving")
    drive.reply(1, "", approval("pay-1"))
    drive.suspend()
    answer = decision(healthy, True)
    again = healthy.drive(submit(healthy, "pay-1", session_id="approving", answer=answer).run_id)
    assert violations(healthy.connection) == []
    healthy.execute("delete from lockgate_store.tool_calls where run_id = %s", again.run_id)

    assert PAIRED in broken_sentences(healthy.connection)
