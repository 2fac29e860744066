"""What becomes of what a worker or a sweeper sends, in plain Python."""

from tests.stateful.facts import Call, Checkpoint, Message, Run, Session
from tests.stateful.store_client import StoreClient

MAX_ATTEMPTS = 3


def stopped_as(run: Run) -> str:
    """Return how a run ends on which a stop stands."""
    return "failed" if run.stop == "abort" else "interrupted"


class Drives(StoreClient):
    """Claims, steps, ends and takeovers."""

    def holds(self, run: Run, attempt: int) -> bool:
        """Say whether an attempt may still write; what was deleted is held by nobody."""
        is_there = self.run_named(run.run_id) is not None
        return is_there and run.status == "running" and run.attempt == attempt

    def claim(self, session: Session, run: Run, worker: str) -> str:
        if run.status != "running" or run.claimed_at is not None or session.landed(run):
            return "over"
        run.owner, run.claimed_at = worker, self.now
        session.head += 1 if run.attempt > 1 else 0
        return "claimed"

    def append(self, session: Session, run: Run, attempt: int, count: int) -> str:
        if not self.holds(run, attempt):
            return "fenced"
        session.head += count
        return "appended"

    def reply(self, session: Session, run: Run, attempt: int, calls: list[Call]) -> str:
        if not self.holds(run, attempt):
            return "fenced"
        if run.calls:
            return "repeated"
        session.messages.append(Message(run.turn, "assistant", 1 + len(calls), len(calls)))
        if calls:
            run.calls = calls
            session.asked |= {call.call_id: call for call in calls if call.kind != "server"}
            session.head += sum(call.kind in ("server", "subagent") for call in calls)
            session.committed = session.head
        else:
            self.close_step(session, run)
        return "saved"

    def result(self, session: Session, run: Run, attempt: int, ordinal: int) -> str:
        if not self.holds(run, attempt):
            return "fenced"
        if ordinal > len(run.calls) or run.calls[ordinal - 1].status != "pending":
            return "repeated"
        run.calls[ordinal - 1].answer()
        session.head += 1
        session.committed = session.head
        return "saved"

    def step(self, session: Session, run: Run, attempt: int, state: dict[str, int] | None) -> str:
        if not self.holds(run, attempt):
            return "fenced"
        if not run.calls:
            return "repeated"
        if run.awaits_any():
            return "LG002"
        if run.steps > 0 or not run.has_taken_over:
            children = [call for call in run.calls if call.kind == "subagent"]
            session.head += session.count_told(children)
        session.pair(run, self.now)
        session.state = session.state if state is None else state
        self.close_step(session, run)
        return "saved"

    def close_step(self, session: Session, run: Run) -> None:
        run.spent = 0
        run.steps += 1
        session.checkpoints.append(
            Checkpoint(
                turn=run.turn,
                step=run.steps,
                checkpoint_id=f"{run.run_id}:{run.steps}",
                keeps=len(session.messages),
                state=dict(session.state),
            )
        )
        session.head += 1
        session.committed = session.head

    def finish(
        self,
        session: Session,
        run: Run,
        attempt: int,
        status: str,
        output: str | None,
        is_cut_off: bool,
    ) -> str:
        """End a run in one commit. is_cut_off  its last reply is kept as far as it had come"""
        if not self.holds(run, attempt):
            return "fenced"
        if status == "stopped" and run.stop is None:
            return "LG002"
        if is_cut_off:
            session.messages.append(Message(run.turn, "assistant", 1))
        if status == "stopped":
            self.close(session, run, stopped_as(run))
        else:
            self.close(session, run, status, output)
        return "finished"

    def requeue(self, session: Session, run: Run, finding: str, worker: str) -> str:
        if run.status != "running":
            return "stale"
        if finding == "drained" and run.owner != worker:
            return "stale"
        if finding not in ("raised", "drained") and self.finding(run) is None:
            return "stale"
        landed = session.landed(run)
        end = landed or self.verdict(run, finding)
        if end is not None:
            self.close(session, run, end, session.output if landed else None)
            return "ended"
        run.dispatch_at = self.now + (min(60, 2 ** (run.spent - 1)) if run.spent else 0)
        run.owner, run.claimed_at, run.workflow, run.dispatched = None, None, "ENQUEUED", None
        run.attempt += 1
        return "requeued"

    def verdict(self, run: Run, finding: str) -> str | None:
        """Return how a run ends that must not be driven again; count the attempt otherwise."""
        if run.workflow == "CANCELLED":
            return "failed"
        if run.stop is not None:
            return stopped_as(run)
        if finding == "drained" or run.owner is None:
            return None
        run.spent += 1
        return "failed" if run.spent >= MAX_ATTEMPTS else None
