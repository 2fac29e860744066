"""States that nothing of ours would leave, made an hour ago; each returns its run's id."""

from collections.abc import Callable
from uuid import UUID

from tests.support import standings
from tests.support.door import Door
from tests.support.store_client import StoreClient
from tests.support.suspensions import client, suspended

SWEEPER = "sweeper"
LONG_AGO = "clock_timestamp() - interval '1 hour'"


def aged(db: Door) -> None:
    """Let everything have been written an hour ago, and every worker but the sweeper be silent."""
    db.execute(f"update lockgate_store.workers set regular_since = {LONG_AGO}")
    db.execute(
        f"update lockgate_store.workers set heartbeat_at = {LONG_AGO} where worker_id <> %s",
        SWEEPER,
    )
    db.execute(
        f"update lockgate_store.sessions set updated_at = {LONG_AGO}, created_at = {LONG_AGO}"
    )
    db.execute(f"update lockgate_store.runs set dispatch_at = {LONG_AGO}")
    db.execute(
        f"update lockgate_store.runs set claimed_at = {LONG_AGO} where claimed_at is not null"
    )


def terminal_landed(db: Door) -> UUID:
    drive = standings.stepped(db)
    StoreClient(db).end(drive.run_id, "completed")
    return drive.run_id


def terminal_landed_on_a_suspended_run(db: Door) -> UUID:
    drive = suspended(db)
    StoreClient(db).end(drive.run_id, "interrupted")
    return drive.run_id


def suspension_landed(db: Door) -> UUID:
    drive = db.driven()
    drive.reply(1, "your turn", client())
    db.execute("update lockgate_store.sessions set status = 'paused'")
    return drive.run_id


def suspension_without_its_stream(db: Door) -> UUID:
    drive = db.driven()
    drive.reply(1, "your turn", client())
    StoreClient(db).set_run(drive.run_id, "suspended_client_tool")
    return drive.run_id


def ended_with_its_stream_open(status: str) -> Callable[[Door], UUID]:
    def make(db: Door) -> UUID:
        drive = standings.stepped(db)
        StoreClient(db).set_run(drive.run_id, status)
        return drive.run_id

    return make


def stopped_and_lost(kind: str) -> Callable[[Door], UUID]:
    def make(db: Door) -> UUID:
        db.beat()
        drive = standings.stepped(db)
        assert db.call(kind, session_id="s1", reason="enough").outcome == "stopping"
        return drive.run_id

    return make


def owner_dead(db: Door) -> UUID:
    db.beat()
    run_id = standings.stepped(db).run_id
    db.set_workflow(run_id, status="PENDING", executor_id="worker-1")
    return run_id


def unserved(db: Door) -> UUID:
    run_id: UUID = db.start().run_id
    db.execute("update dbos.workflow_status set application_version = 'drive-0'")
    db.execute("update lockgate_store.workers set draining = true")
    return run_id


def never_claimed(db: Door) -> UUID:
    db.beat()
    run_id: UUID = db.start().run_id
    db.set_workflow(run_id, status="PENDING", executor_id="worker-1", started_at_epoch_ms=1)
    return run_id


def waits_too_long(db: Door, session_id: str = "s1") -> UUID:
    run_id: UUID = db.driven(session_id).run_id
    assert db.requeue(run_id, "raised").outcome == "requeued"
    return run_id


def closed_owner(status: str, *, claimed: bool = True) -> Callable[[Door], UUID]:
    def make(db: Door) -> UUID:
        run_id: UUID = standings.stepped(db).run_id if claimed else db.start().run_id
        db.set_workflow(run_id, status=status)
        return run_id

    return make


def without_a_workflow(db: Door) -> UUID:
    run_id: UUID = db.start().run_id
    db.execute("delete from dbos.workflow_status")
    return run_id
