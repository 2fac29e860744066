"""Every rule that writes refuses another isolation level, before it reads or writes anything."""

from typing import Any
from uuid import uuid4

import psycopg
import pytest

from tests.support.cluster import Database
from tests.support.door import Door

RUN: dict[str, Any] = {"session_id": "s1", "run_id": uuid4()}
EXPECT = {"currentRunId": None, "currentRunStatus": None, "sessionStatus": None}
AGENT = {"session_id": "s1", "agent_type": "support"}
WRITERS: dict[str, dict[str, Any]] = {
    "start": {"session_id": "s1", "agent_type": "support", "input": {"message": "hi"}},
    "resume": {**AGENT, "options": {"mode": "continue"}},
    "retry": AGENT,
    "commit_run_start": {**RUN, "drive": "start", "session_status": "active", "expect": EXPECT},
    "commit_terminal": {**RUN, "status": "completed"},
    "update_run_status": {**RUN, "status": "completed"},
    "close_stream": {"session_id": "s1", "status": "ended", "expect_run_id": str(uuid4())},
    "create_session": {"session_id": "s2", "agent_type": "support"},
    "fail_session_without_run": {"session_id": "s1", "error_detail": {}},
    "claim_run": {**RUN, "drive_id": uuid4(), "worker_id": "w"},
    "commit_reply": {**RUN, "attempt": 1, "step": 1, "content": "[]"},
    "commit_result": {**RUN, "attempt": 1, "step": 1, "ordinal": 1, "response": {}},
    "commit_step": {**RUN, "attempt": 1, "step": 1},
    "finish_run": {**RUN, "attempt": 1, "status": "completed"},
    "requeue_run": {**RUN, "drive_id": uuid4(), "finding": "raised", "worker_id": "w"},
    "claim_settlements": {"consumer": "hook"},
}


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_a_writing_rule_raises_lg001(
    rules_db: Database, db: Door, level: str, subtests: pytest.Subtests
) -> None:
    db.start()
    with db.nothing_written(), rules_db.connect(autocommit=False) as connection:
        for rule, given in WRITERS.items():
            with subtests.test(rule):
                connection.execute(f"set transaction isolation level {level}".encode())
                with pytest.raises(psycopg.DatabaseError) as refused:
                    Door(connection).call_many(rule, **given)
                connection.rollback()

                assert refused.value.sqlstate == "LG001"
