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
        run.spent = run.deaths = 0
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

    def requeue(
        self,
        session: Session,
        run: Run,
        finding: str,
        worker: str,
        max_attempts: int,
        auto_resume: bool,
    ) -> str:
        if run.status != "running":
            return "stale"
        if finding == "drained" and run.owner != worker:
            return "stale"
        is_found = finding not in ("raised", "drained")
        if is_found and self.finding(run) is None:
            return "stale"
        since = self.last_sign_of_life(run, finding)
        if self.had_come_to_an_end(session, run):
            return "suspended" if run.is_live else "ended"
        if is_found and not auto_resume and run.claimed_at is not None:
            self.demote(session, run)
            return "suspended"
        if is_found and self.finding(run) == "wait_over":
            run.workflow = "ENQUEUED"
            return "released"
        if self.spend(run, finding, max_attempts):
            self.close(session, run, "failed")
            return "exhausted"
        wait = min(60, 2 ** (run.spent - 1)) if run.spent else 0
        run.dispatch_at = max(self.now, since + wait)
        run.workflow = "DELAYED" if run.dispatch_at > self.now else "ENQUEUED"
        run.owner, run.claimed_at, run.dispatched = None, None, None
        run.attempt += 1
        return "requeued"

    def last_sign_of_life(self, run: Run, finding: str) -> float:
        """Return from when on the wait for the next attempt counts."""
        if finding == "raised" or run.claimed_at is None or self.alive(run.owner):
            return self.now
        return max(run.claimed_at, self.beats.get(run.owner or "", run.claimed_at))

    def had_come_to_an_end(self, session: Session, run: Run) -> bool:
        """Write what a lost run had come to by itself, if it had."""
        landed = session.landed(run)
        if landed is not None:
            self.close(session, run, landed, session.output)
        elif session.status == "paused" and self.waits_for_others(session, run):
            self.pause(session, run)
            self.go_on(session)
        elif run.workflow == "CANCELLED":
            self.close(session, run, "failed")
        elif run.stop is not None:
            self.close(session, run, stopped_as(run))
        return run.status != "running"

    def spend(self, run: Run, finding: str, max_attempts: int) -> bool:
        """Count a lost attempt, and say whether that was the last."""
        if finding == "drained" or run.owner is None:
            return False
        is_death = finding == "owner_dead"
        lived = self.last_sign_of_life(run, finding) - (run.claimed_at or self.now)
        run.spent += not (is_death and run.deaths >= 2 and lived > 5)
        run.deaths += is_death
        return run.spent >= max_attempts or run.deaths >= 2 * max_attempts

    def demote(self, session: Session, run: Run) -> None:
        """Pause a lost run that is not to go on by itself."""
        if self.waits_for_others(session, run):
            self.pause(session, run)
            return
        session.head += 1
        self.suspended(session, run, "suspended_step_partial")
        run.is_told_to_wait = True

    def waits_for_others(self, session: Session, run: Run) -> bool:
        """Say whether only others can go on with a run's open step."""
        is_ours = any(self.is_ours(session, call) for call in run.calls)
        return not is_ours and any(call.kind != "server" for call in run.calls)

    def is_ours(self, session: Session, call: Call) -> bool:
        """Say whether a drive has still to run a call, or to start its child."""
        if call.status != "pending":
            return False
        if call.kind == "subagent":
            return not session.has_child(call)
        return call.kind == "server" or call.approved is True

    def pause(self, session: Session, run: Run) -> None:
        """Suspend a run that waits for others, and announce what it waits for."""
        asked = [call for call in run.calls if call.is_asked]
        session.head += len(asked) + 1
        session.committed = session.head
        status = "suspended_client_tool" if asked else "suspended_awaiting_children"
        self.suspended(session, run, status)
        run.is_told_to_wait = False

    def suspended(self, session: Session, run: Run, status: str) -> None:
        """Write a suspension in all its parts."""
        session.status, session.stream = "paused", "paused"
        run.status, run.owner, run.spent, run.deaths = status, None, 0, 0
        run.attempt += 1
        self.settle(session, run, status)
