"""Who may call what, whose rights a rule runs with, and who touches DBOS."""

import re

from tests.support.sources import SqlFile, function_files, granted, sql_files

# Public without the owner's rights: it touches nothing, or acts on the caller's own connection.
OF_THE_CALLER = {"drive_version", "listen_for_drives"}
# Public writers that begin otherwise than with the session's lock, and why.
WITHOUT_SESSION_LOCK = {
    "start": "enter looks ahead of the lock, then takes it",
    "resume": "enter looks ahead of the lock, then takes it",
    "retry": "enter looks ahead of the lock, then takes it",
    "submit_tool_result": "looks for the call's session, locks it, and looks again",
    "interrupt": "request_stop takes it",
    "abort": "request_stop takes it",
    "create_session": "inserts first, since there may be no row to lock",
    "append_chunks": "the hot path locks the stream row only",
    "delete_session": "locks the whole tree, sorted, once it has read it",
    "heartbeat": "writes the worker's own row",
    "claim_settlements": "deliveries are locked by their own rows",
    "mark_delivered": "deliveries are locked by their own rows",
    "wake_workers": "writes no row",
    "listen_for_drives": "writes no row",
}
# What only a worker calls: it acts for a run that it was given, and for no user.
OF_A_WORKER = {
    "append_chunks",
    "await_child",
    "begin_call",
    "claim_run",
    "commit_reply",
    "commit_result",
    "commit_step",
    "finish_run",
    "list_ancestors",
    "record_child_running",
    "record_remote_child",
    "requeue_run",
    "start_child",
    "suspend_run",
}
NAMES_DBOS = {
    "rules/shared/enqueue_drive.sql",
    "rules/recovery/drive_workflow.sql",
    "rules/recovery/release_drive.sql",
    "grants.sql",
}


def public() -> list[SqlFile]:
    return [file for file in function_files() if file.stem in granted()]


def leaves() -> list[SqlFile]:
    return [file for file in function_files() if file.stem not in granted()]


def test_only_one_file_grants() -> None:
    assert [file.path for file in sql_files() if re.search(r"\b(grant|revoke)\b", file.code)] == [
        "grants.sql"
    ]


def test_what_is_granted_is_a_rule_and_is_granted_once() -> None:
    assert sorted(granted()) == sorted({file.stem for file in public()})


def test_a_public_function_runs_with_the_owners_rights_and_a_pinned_path() -> None:
    wrong = [
        file.path
        for file in public()
        if (
            "security definer set search_path = pg_catalog, pg_temp"
            in " ".join(file.signature.split())
        )
        is (file.stem in OF_THE_CALLER)
    ]

    assert wrong == []


def test_a_leaf_runs_with_nobodys_rights_but_its_callers() -> None:
    assert [file.path for file in leaves() if "security definer" in file.signature] == []


def test_a_public_writer_begins_with_the_sessions_lock() -> None:
    first_acts = {
        file.stem: re.search(
            r"lockgate\.(lock_session|lock_attempt)\(", "\n".join(file.body)[:4000]
        )
        for file in public()
        if re.search(r"\bvolatile\b", file.signature)
    }
    unlocked = {name for name, lock in first_acts.items() if lock is None}

    assert unlocked - WITHOUT_SESSION_LOCK.keys() == set()
    assert WITHOUT_SESSION_LOCK.keys() - first_acts.keys() == set(), "a stale exception"


def test_nothing_is_read_before_the_lock() -> None:
    """A refusal comes from the locked row, or from the form of the arguments alone."""
    wrong = []
    for file in public():
        if file.stem in WITHOUT_SESSION_LOCK or not re.search(r"\bvolatile\b", file.signature):
            continue
        code = re.sub(r"--[^\n]*\n", "", "\n".join(file.body) + "\n")
        before = re.split(r"lockgate\.lock_(?:session|attempt)\(", code)[0]
        called = set(re.findall(r"lockgate\.(\w+)\(", before))
        if re.search(r"\b(from|join|into|update)\s+lockgate_store\.", before) or any(
            "immutable" not in file.signature for file in leaves() if file.stem in called
        ):
            wrong.append(file.path)

    assert wrong == []


def test_who_names_a_session_says_for_whom() -> None:
    naming = {file.stem for file in public() if "p_session_id text" in file.signature}
    silent = {
        file.stem
        for file in public()
        if file.stem in naming and "p_acting_user_id text default null" not in file.signature
    }

    assert silent == OF_A_WORKER


def test_the_tenant_is_the_last_argument() -> None:
    wrong = [
        file.path
        for file in public()
        if "p_session_id text" in file.signature
        and not re.search(r"p_tenant_id text default ''\n\)", file.signature)
    ]

    assert wrong == []


def test_dbos_is_named_by_three_rules_only() -> None:
    named = {file.path for file in sql_files() if re.search(r"\bdbos\b", file.statements)}

    assert named == NAMES_DBOS
    for word, path in (
        (r"\bfrom workflow_status\b", "rules/recovery/drive_workflow.sql"),
        (r"\bupdate workflow_status\b", "rules/recovery/release_drive.sql"),
        (r"\benqueue_workflow\(", "rules/shared/enqueue_drive.sql"),
    ):
        assert [file.path for file in sql_files() if re.search(word, file.code)] == [path]


def test_dbos_is_written_last() -> None:
    """Its rows come last in the lock order, so nothing of ours is written after them."""
    for file in function_files():
        code = "\n".join(file.body)
        for last in ("lockgate.enqueue_drive(", "lockgate.release_drive("):
            after = code.split(last)[-1] if last in code else ""
            assert not re.search(r"\b(insert|update|delete|perform)\b", after), file.path
