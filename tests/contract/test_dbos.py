"""The names, columns and signatures of DBOS that Lockgate leans on, pinned to what is installed."""

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

import lockgate_sql
from tests.support.cluster import Cluster, LentDatabase
from tests.support.door import Door

ROOT = Path(__file__).parents[2]
ENQUEUE = {
    "workflow_name": "text",
    "queue_name": "text",
    "positional_args": "json[]",
    "workflow_id": "text",
    "app_version": "text",
    "delay_until_epoch_ms": "bigint",
    "application_name": "text",
    "priority": "integer",
}
READ = {
    "workflow_uuid": "text",
    "status": "text",
    "application_version": "text",
    "executor_id": "text",
    "started_at_epoch_ms": "bigint",
}


@pytest.fixture(scope="module")
def database(cluster: Cluster) -> Iterator[LentDatabase]:
    with cluster.lend("real") as lent:
        yield lent


def test_enqueue_workflow_takes_what_we_pass(database: LentDatabase) -> None:
    found = database.warm.execute(
        "select n.name, format_type(n.type, null), n.place > p.pronargs - p.pronargdefaults"
        "  from pg_proc p,"
        "       unnest(p.proargnames, p.proargtypes::oid[]) with ordinality n(name, type, place)"
        " where p.oid = 'dbos.enqueue_workflow'::regproc"
    ).fetchall()

    assert ENQUEUE.items() <= {name: type_ for name, type_, _ in found}.items()
    assert {name for name, _, optional in found if not optional} == {"workflow_name", "queue_name"}


def test_what_we_pass_is_pinned_here() -> None:
    body = lockgate_sql.text("rules/shared/enqueue_drive.sql")

    assert set(re.findall(r"(\w+) => ", body)) == set(ENQUEUE)


def test_workflow_status_has_the_columns_we_read(database: LentDatabase) -> None:
    found: dict[str, str] = dict(
        database.warm.execute(
            "select attname, format_type(atttypid, null) from pg_attribute"
            " where attrelid = 'dbos.workflow_status'::regclass and attnum > 0"
        ).fetchall()
    )

    assert READ.items() <= found.items()
    assert set(
        re.findall(r"\bw\.(\w+)", lockgate_sql.text("rules/recovery/drive_workflow.sql"))
    ) == set(READ)


def test_a_known_id_is_answered_and_enqueues_nothing(database: LentDatabase) -> None:
    """Why a drive_id is minted by the commit that enqueues it, and never used twice."""
    door = Door(database.warm)
    drive_id, run_id = uuid4(), uuid4()
    for session_id in ("first", "second"):
        door.execute("select lockgate.enqueue_drive('', %s, %s, %s)", session_id, run_id, drive_id)
    (workflow,) = door.rows("select * from dbos.workflow_input")

    assert '"first"' in workflow.inputs


def test_a_later_dispatch_is_a_delayed_workflow_until_it_is_released(
    database: LentDatabase,
) -> None:
    """It is delayed for a day more than it waits: no worker's clock is to end the wait."""
    door = Door(database.warm)
    now_id, later_id = uuid4(), uuid4()
    door.execute("select lockgate.enqueue_drive('', 's', %s, %s)", uuid4(), now_id)
    door.execute(
        "select lockgate.enqueue_drive('', 's', %s, %s, '2099-01-01 00:00:00.5+00')",
        uuid4(),
        later_id,
    )

    assert door.workflow(now_id).status == "ENQUEUED"
    assert (door.workflow(later_id).status, door.workflow(later_id).delay_until_epoch_ms) == (
        "DELAYED",
        4070908800500 + 24 * 60 * 60 * 1000,
    )
    for drive_id in (now_id, later_id):
        door.execute("select lockgate.release_drive(%s)", drive_id)
    fresh, released = (vars(door.workflow(drive_id)) for drive_id in (now_id, later_id))
    own = ("workflow_uuid", "inputs", "owner_xid", "created_at", "updated_at")
    assert {n: v for n, v in fresh.items() if n not in own} == {
        n: v for n, v in released.items() if n not in own
    }


def test_the_statuses_that_close_an_owner_are_dboss_ends() -> None:
    from dbos._sys_db import WorkflowStatusString

    closing = re.findall(
        r"'([A-Z_]+)'", lockgate_sql.text("rules/recovery/is_stranded.sql").split("begin")[1]
    )
    ends = {status.value for status in WorkflowStatusString} - {"PENDING", "ENQUEUED", "DELAYED"}

    assert set(closing) - {"PENDING", "DELAYED"} == ends


def test_kicks_private_names_exist() -> None:
    tree = ast.parse((ROOT / "runtime" / "lockgate" / "kick.py").read_text())
    named = [
        (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("dbos._")
        for alias in node.names
    ]

    assert named
    for module, name in named:
        assert hasattr(importlib.import_module(module), name), f"{module}.{name}"


def test_the_kick_calls_the_system_database_by_its_signature() -> None:
    from dbos._core import execute_dequeued_workflow
    from dbos._sys_db import SystemDatabase

    assert list(inspect.signature(SystemDatabase.start_queued_workflows).parameters)[:6] == [
        "self",
        "queue",
        "executor_id",
        "app_version",
        "queue_partition_key",
        "local_running_count",
    ]
    assert "owner_xid" in inspect.signature(SystemDatabase.start_queued_workflows).parameters
    assert len(inspect.signature(execute_dequeued_workflow).parameters) == 3


def test_workflow_queue_and_version_are_spelled_alike_in_sql_and_python() -> None:
    sql = lockgate_sql.text("rules/shared/enqueue_drive.sql")
    runtime = "\n".join(path.read_text() for path in (ROOT / "runtime" / "lockgate").rglob("*.py"))
    (workflow,) = re.findall(r"workflow_name => '(\w+)'", sql)
    (queue,) = re.findall(r"queue_name => '(\w+)'", sql)
    (version,) = re.findall(
        r"^select '(.+)'$", lockgate_sql.text("rules/shared/drive_version.sql"), re.M
    )

    assert f'@DBOS.workflow(name="{workflow}"' in runtime
    for spelled in (queue, version):
        assert f'"{spelled}"' in runtime, f"{spelled} is not spelled in the runtime"
