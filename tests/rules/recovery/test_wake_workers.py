"""lockgate.wake_workers: who listens hears that a drive waits, after the commit."""

from tests.support.cluster import Database
from tests.support.door import Door


def test_a_listener_hears_of_it_once_it_is_committed(rules_db: Database, db: Door) -> None:
    with rules_db.connect() as listener, rules_db.connect(autocommit=False) as waker:
        Door(listener).call_many("listen_for_drives")
        Door(waker).call_many("wake_workers")
        early = list(listener.notifies(timeout=0))
        waker.commit()
        heard = list(listener.notifies(timeout=5, stop_after=1))

    assert early == []
    assert [(notice.channel, notice.payload) for notice in heard] == [("lockgate_drives", "")]
