"""What a paused session goes on from and back to: no call unpaired, and nobody asked twice."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.door import Door, Drive, tool
from tests.support.suspensions import client, results, submit, suspended, unpaired

SPOKEN = {"mode": "with_message", "message": "go on"}


def two_rounds(db: Door) -> Drive:
    """Commit a step, wait in the second, go on, commit another and wait again."""
    drive = db.driven()
    drive.reply(1, "", tool("look"))
    drive.result(1, 1, closes_step=True)
    drive.reply(2, "", client("a"))
    drive.suspend(2)
    again = db.drive(submit(db, "a").run_id)
    again.reply(1, "", tool("look"))
    again.result(1, 1, closes_step=True)
    again.reply(2, "", client("b"))
    again.suspend(2)
    return again


@pytest.mark.parametrize("checkpoint", ["first run", "second run"])
def test_a_resume_from_a_checkpoint_leaves_no_call_unpaired(db: Door, checkpoint: str) -> None:
    again = two_rounds(db)
    first = db.row("select run_id from lockgate_store.runs where turn = 1").run_id
    db.drive(submit(db, "b").run_id).finish("failed")
    run_id = first if checkpoint == "first run" else again.run_id
    answer = db.retry(checkpoint_id=f"{run_id}:1")

    assert (answer.outcome, unpaired(db)) == ("resumed", set())
    assert len(db.messages()) == (3 if checkpoint == "first run" else 7)


def test_a_retry_goes_on_behind_the_answers_of_a_batch(db: Door) -> None:
    two_rounds(db)
    drive = db.drive(submit(db, "b").run_id)
    drive.finish("failed")
    assert db.retry(message='"again"').outcome == "resumed"

    assert unpaired(db) == set()
    assert [m.role for m in db.messages()][-3:] == ["assistant", "tool", "user"]
    assert results(db)[-1]["toolCallId"] == "b", "nobody is asked twice"


def test_an_interrupted_run_is_resumed_from_a_checkpoint_before_the_pause(db: Door) -> None:
    again = two_rounds(db)
    drive = db.drive(submit(db, "b").run_id)
    db.call("interrupt", session_id="s1")
    drive.finish("stopped")
    options = {"mode": "from_checkpoint", "checkpointId": f"{again.run_id}:1"}
    assert db.resume(options=options).outcome == "resumed"

    assert unpaired(db) == set()
    assert len(db.messages()) == 7


def test_a_message_on_a_paused_session_comes_behind_the_drained_results(db: Door) -> None:
    """A complete batch that nobody continued: a store client's status keeps it from going on."""
    suspended(db, client("a"), client("b"))
    submit(db, "a", "first")
    db.execute(
        "update lockgate_store.tool_calls set status = 'answered',"
        """ response = '{"success": true, "result": "second"}', submitted_at = lockgate.now()"""
        " where tool_call_id = 'b'"
    )
    run_id = db.resume(options=SPOKEN).run_id
    drained, spoken = db.messages()[-2:]

    assert [(r["toolCallId"], r["result"]) for r in drained.content] == [
        ("a", "first"),
        ("b", "second"),
    ]
    assert (spoken.role, spoken.run_id) == ("user", run_id)


def test_a_resume_before_the_batch_is_complete_is_told_what_is_awaited(db: Door) -> None:
    suspended(db, client("a"), client("b"))
    submit(db, "a")
    with db.nothing_written():
        refused = db.resume(options=SPOKEN)

    assert refused.outcome == "not_resumable"
    assert refused.detail["awaitingToolCallIds"] == ["b"]


# What a session's hundredth pause costs.

ROUNDS = """
do $$
declare
  v_run uuid := (select current_run_id from lockgate_store.sessions where session_id = 's1');
  v_call text;
begin
  for n in 1..100 loop
    perform lockgate.claim_run('s1', v_run, r.drive_id, 'worker-1')
       from lockgate_store.runs r where r.run_id = v_run;
    select a.calls -> 0 ->> 'toolCallId' into v_call
      from lockgate.commit_reply('s1', v_run, 1, 1, '[{"type": "text", "text": "your turn"}]',
        '[{"id": "call_1_1", "toolName": "pick", "input": {}, "kind": "client"}]') a;
    perform lockgate.suspend_run('s1', v_run, 1, 1);
    select a.run_id into v_run
      from lockgate.submit_tool_result('s1', v_call,
        '{"kind": "client-tool-result", "result": "yes"}') a;
  end loop;
end;
$$
"""
STORED = """
select r.turn, sum(pg_column_size(r)
       + (select sum(pg_column_size(m)) from lockgate_store.messages m where m.run_id = r.run_id)
       + (select sum(pg_column_size(c)) from lockgate_store.tool_calls c where c.run_id = r.run_id)
       + (select sum(pg_column_size(b)) from lockgate_store.stream_chunks b
           where b.run_id = r.run_id)) as bytes
  from lockgate_store.runs r
 where r.turn in (10, 100)
 group by r.turn order by r.turn
"""


@contextmanager
def reads_counted(db: Door) -> Iterator[dict[str, int]]:
    """Count what a block reads of the calls, in one transaction."""
    query = (
        "select seq_scan, idx_tup_fetch from pg_stat_xact_user_tables where relname = 'tool_calls'"
    )
    read: dict[str, int] = {}
    db.execute("begin")
    before = vars(db.row(query))
    yield read
    read.update({name: count - before[name] for name, count in vars(db.row(query)).items()})
    db.execute("commit")


def test_the_hundredth_pause_stores_what_the_tenth_did(db: Door) -> None:
    db.start()
    db.execute(ROUNDS)
    tenth, hundredth = db.rows(STORED)

    assert db.session().turn_count == 101
    assert len(results(db)) == 100
    assert 100 * hundredth.bytes <= 105 * tenth.bytes, "an id has one more digit"


def test_a_round_reads_few_calls_and_those_by_an_index(db: Door) -> None:
    """Though the session has had a hundred rounds, and its neighbours have five thousand calls."""
    db.start()
    db.execute(ROUNDS)
    db.execute(
        "insert into lockgate_store.tool_calls (session_id, run_id, step, ordinal, model_call_id,"
        " tool_call_id, tool_name, kind, input, status, response, root_session_id)"
        " select 'x' || n, c.run_id, 2, n, '', c.tool_call_id, 'pick', 'client', '{}', 'consumed',"
        " '{}', 's1' from lockgate_store.tool_calls c, generate_series(1, 50) n"
    )
    db.execute("analyze lockgate_store.tool_calls")
    drive = db.drive(db.session().current_run_id)
    with reads_counted(db) as read:
        drive.reply(1, "", client("new"))
        drive.suspend()
        submit(db, "new")
    db.execute("delete from lockgate_store.tool_calls where session_id like 'x%%'")

    assert read["seq_scan"] == 0
    assert read["idx_tup_fetch"] < 50
