"""`lockgate doctor --invariants` asks each sentence of a live database, all in one snapshot."""

import json

import psycopg
import pytest

from lockgate_ops.install import InstallSettings, install
from lockgate_ops.invariants import (
    FIRST_ROWS,
    LONGEST_ROW,
    Answer,
    answered,
    invariants,
    search_path_of,
)
from lockgate_ops.refusals import Refused
from tests.ops.databases import BareDatabase
from tests.ops.processes import lockgate
from tests.support.cluster import Database
from tests.support.connections import connect
from tests.support.door import Door

NUMBERED = "Messages are numbered 1 to message_count."
BROKEN_NUMBERS = "update lockgate_store.sessions set message_count = message_count + 1"
# Ids, states and numbers; never what was said, nor what a tool was given.
MAY_BE_SHOWN = {
    "attempt", "attempts", "child_session_id", "chunk_count", "consumer", "current_run_id",
    "drive", "drive_id", "entry", "first_sequence", "floor_sequence", "head_sequence",
    "last_sequence", "live_runs", "message_count", "next_start", "numbers", "request_key",
    "results", "run_attempt", "run_id", "run_status", "runs", "seq", "session_id",
    "start_sequence", "status", "statuses", "step_count", "steps", "tenant_id", "tool_call_id",
    "turn_count", "turns", "user_messages", "workflow_uuid",
}  # fmt: skip


def answers(url: str, dbos_schema: str = "dbos", timeout_s: float = 0.0) -> dict[str, Answer]:
    return {
        each.sentence: each
        for each in answered(url, dbos_schema, timeout_s)
        if isinstance(each, Answer)
    }


def states(found: dict[str, Answer]) -> set[str]:
    return {answer.state for answer in found.values()}


def test_every_sentence_is_told_before_it_is_asked_and_holds(clean_database: Database) -> None:
    with clean_database.connect() as conn:
        Door(conn).finished()
        Door(conn).driven("live")
    done = lockgate("doctor", "--invariants", database_url=clean_database.url)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[::2] == list(invariants())
    assert all(line.startswith("  ok, ") for line in lines[1::2])


def test_a_broken_sentence_is_told_with_the_first_of_its_rows(clean_database: Database) -> None:
    with clean_database.connect() as conn:
        for number in range(FIRST_ROWS + 1):
            Door(conn).start(f"s{number}", say="a secret word")
        conn.execute(BROKEN_NUMBERS.encode())
    done = lockgate("doctor", "--invariants", database_url=clean_database.url)
    assert done.returncode == 1
    told = done.stdout[done.stdout.index(NUMBERED) :].splitlines()
    assert told[1].startswith("  broken, ")
    assert all(json.loads(row)["message_count"] == 2 for row in told[2 : 2 + FIRST_ROWS])
    assert told[2 + FIRST_ROWS] == "    and perhaps more"
    assert "secret" not in done.stdout
    assert done.stdout.count("  ok, ") == len(invariants()) - 1


def test_the_answers_are_one_document_for_a_program(clean_database: Database) -> None:
    with clean_database.connect() as conn:
        Door(conn).start()
        conn.execute(BROKEN_NUMBERS.encode())
    done = lockgate("doctor", "--invariants", "--json", database_url=clean_database.url)
    assert done.returncode == 1
    told = json.loads(done.stdout)
    assert told["ok"] is False
    assert [each["sentence"] for each in told["invariants"]] == list(invariants())
    broken = [each for each in told["invariants"] if each["state"] == "broken"]
    assert [each["sentence"] for each in broken] == [NUMBERED]
    assert json.loads(broken[0]["rows"][0])["session_id"] == "s1"


def test_all_sentences_see_the_same_moment(clean_database: Database) -> None:
    with clean_database.connect() as conn:
        Door(conn).start()
        asked = answered(clean_database.url, "dbos", 0.0)
        first = [next(asked), next(asked)]
        conn.execute(BROKEN_NUMBERS.encode())
        rest = [each for each in asked if isinstance(each, Answer)]
    assert first[0] == rest[0].sentence or isinstance(first[1], Answer)
    assert {each.state for each in rest} == {"ok"}
    assert answers(clean_database.url)[NUMBERED].state == "broken"


def test_it_writes_nothing(clean_database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with clean_database.connect() as conn:
        conn.execute(
            "create function public.written() returns text language sql volatile as"
            " 'delete from lockgate_store.workers; select 1::text'"
        )
    sentences = {"It writes.": "select public.written()"}
    monkeypatch.setattr("lockgate_ops.invariants.invariants", lambda: sentences)
    found = answers(clean_database.url)["It writes."]
    assert found.state == "unknown"
    assert "read-only transaction" in str(found.why)


def test_a_sentence_that_takes_too_long_is_given_up_and_the_others_are_asked(
    clean_database: Database,
) -> None:
    with clean_database.connect(autocommit=False) as slow:
        slow.execute("lock table lockgate_store.recoveries in access exclusive mode")
        done = lockgate(
            *("doctor", "--invariants", "--json", "--statement-timeout-s", "1"),
            database_url=clean_database.url,
        )
    assert done.returncode == 1
    found = {each["sentence"]: each for each in json.loads(done.stdout)["invariants"]}
    given_up = found.pop("A crash-loop budget belongs to a live run.")
    assert given_up["state"] == "unknown"
    assert "statement timeout" in given_up["why"]
    assert {each["state"] for each in found.values()} == {"ok"}


def test_a_role_without_rights_is_told_as_whom_to_connect(
    clean_database: Database, bare: BareDatabase
) -> None:
    done = lockgate("doctor", "--invariants", database_url=bare.owner_of(clean_database.name))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "connect as the owner of Lockgate's tables" in done.stderr


@pytest.mark.parametrize("schema", ["Their DBOS", 'their "own", public'])
def test_dbos_may_have_a_schema_of_any_name(bare: BareDatabase, schema: str) -> None:
    install(bare.owner_url, InstallSettings(dbos_schema="Their DBOS"))
    with connect(bare.url) as conn:
        name = psycopg.sql.Identifier(schema)
        if schema != "Their DBOS":
            conn.execute(psycopg.sql.SQL('alter schema "Their DBOS" rename to {}').format(name))
    assert states(answers(bare.owner_url, schema)) == {"ok"}
    with pytest.raises(Refused, match="--dbos-schema"):
        answers(bare.owner_url, "dbos")


def test_a_database_that_is_not_installed_names_the_command(bare: BareDatabase) -> None:
    with pytest.raises(Refused, match="run `lockgate install`"):
        answers(bare.owner_url)


def test_other_workflows_of_the_users_are_none_of_its_business(clean_database: Database) -> None:
    with clean_database.connect() as conn:
        door = Door(conn)
        run_id = door.start().run_id
        drive_id = str(door.run(run_id).drive_id)
        door.execute(
            "insert into dbos.workflow_status select (w).* from (select jsonb_populate_record(w,"
            ' \'{"workflow_uuid": "theirs", "name": "their_own"}\') as w'
            " from dbos.workflow_status w where w.workflow_uuid = %s) x",
            drive_id,
        )
        door.execute(
            "insert into dbos.workflow_input select (i).* from (select jsonb_populate_record(i,"
            ' \'{"workflow_uuid": "theirs", "inputs": "gASVBAAAAAAAAABLAYWULg=="}\') as i'
            " from dbos.workflow_input i where i.workflow_uuid = %s) x",
            drive_id,
        )
    assert states(answers(clean_database.url)) == {"ok"}


def test_a_row_shows_ids_states_and_numbers_and_no_content(clean_database: Database) -> None:
    shown = set()
    with clean_database.connect() as conn:
        conn.execute("select set_config('search_path', %s, false)", [search_path_of("dbos")])
        for query in invariants().values():
            cursor = conn.execute(f"select * from ({query}) broken limit 0".encode())
            shown |= {column.name for column in cursor.description or ()}
    assert shown - MAY_BE_SHOWN == set()


def test_a_long_row_is_cut(clean_database: Database) -> None:
    with clean_database.connect() as conn:
        door = Door(conn)
        door.start()
        door.execute(
            "insert into lockgate_store.messages (session_id, seq, role, content, run_id,"
            " created_at) select m.session_id, n, 'assistant', '[]', m.run_id, m.created_at"
            " from lockgate_store.messages m, generate_series(3, 500) n"
        )
    (row,) = answers(clean_database.url)[NUMBERED].rows
    assert len(row) == LONGEST_ROW
