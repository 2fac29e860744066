"""How runs follow each other and end, in plain Python, and whose parent goes on with that."""

from uuid import UUID

from tests.stateful.facts import Call, Facts, Message, Run, Session

NO_ID = UUID(int=0)


class Runs(Facts):
    """The beginning and the end of a run in all its parts."""

    def begin(self, session: Session, run: Run, ends: str, keeps: int | None, says: int) -> None:
        """Put a new run after the current one, which ends if it is live."""
        current = session.current
        if current is not None and current.is_live:
            self.replace(session, current, run, ends)
        if keeps is not None:
            self.go_back(session, keeps)
        session.messages += [Message(run.turn, "user", 1)] * says
        session.runs.append(run)
        session.first_run_due, session.end_due, session.output = False, False, None
        session.stream, session.committed = "active", session.head

    def replace(self, session: Session, current: Run, run: Run, ends: str) -> None:
        """End a live run for the next one, which may go on with it."""
        drives_on = run.drive in ("resume", "continue") and current.status != "running"
        goes_on = drives_on and ends == "superseded"
        if goes_on:
            run.stop = current.stop
            session.head += 1 + session.count_told(current.calls)
        else:
            self.settle(session, current, ends)
        if goes_on and run.drive == "continue" and is_left_to_run(current.calls):
            run.calls, current.calls, run.has_taken_over = current.calls, [], True
            for call in run.calls:
                call.run = run
                call.status = "answered" if call.has_response else "pending"
        session.pair(current, self.now)
        current.end(ends, None if ends == "superseded" else session.output)
        if not goes_on:
            self.tell_parent(session, ends)

    def go_back(self, session: Session, keeps: int) -> None:
        """Cut the history back; the calls of the run that spoke last get their results again."""
        session.messages = kept = session.messages[:keeps]
        session.checkpoints = [c for c in session.checkpoints if c.keeps <= keeps]
        if not kept or kept[-1].role != "assistant":
            return
        mine = [said for said in kept if said.turn == kept[-1].turn]
        while mine and mine[-1].role == "assistant":
            said = mine.pop()
            if said.calls:
                kept.append(Message(said.turn, "tool", said.calls))
                return

    def close(self, session: Session, run: Run, status: str, output: str | None = None) -> None:
        """End a running run in all its parts at once."""
        session.pair(run, self.now)
        session.status, session.terminal = status, (run.run_id, status)
        session.end_due, session.output = False, output
        session.close_stream(status)
        run.end(status, output)
        self.settle(session, run, status)
        self.tell_parent(session, status)

    def tell_parent(self, session: Session, status: str) -> None:
        """Record how a child's run ended with its parent, if that has it on record."""
        name = (session.name[0], session.parent or "")
        parent = self.sessions.get(name)
        child = parent.children.get(session.name[1]) if parent else None
        if parent is None or child is None or (child.has_ended and child.name is None):
            return
        self.moved.add(name)
        child.status, child.has_ended = status, True
        calls = parent.current.calls if parent.current else []
        waiting = [c for c in calls if c.call_id == child.call_id and c.status == "pending"]
        for call in waiting:
            call.answer()
        if waiting:
            self.go_on(parent)

    def go_on(self, session: Session) -> Run | None:
        """Start the run that goes on with a suspended one, if all that it waits for has come."""
        current = session.current
        if current is None or not current.is_live or current.status == "running":
            return None
        if session.landed(current) or current.awaits_any():
            return None
        turn = len(session.runs) + 1
        run = Run(NO_ID, turn, "continue", None, None, None, session.head, self.now)
        self.begin(session, run, "superseded", None, 0)
        session.status = "active"
        self.unnamed.append(session)
        return run


def is_left_to_run(calls: list[Call]) -> bool:
    """Say whether all of a step is answered, and of what was approved something is to be run."""
    if any(call.status == "pending" for call in calls):
        return False
    return any(call.approved and not call.has_response for call in calls)
