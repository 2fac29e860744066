"""What becomes of a session as such, in plain Python: made, failed without a run, deleted."""

from tests.stateful.entries import Entries, Entry, Identity, changed, is_anothers
from tests.stateful.facts import Name, Session


class LoneSessions(Entries):
    """What is done to sessions without a run in hand."""

    def create(self, entry: Entry) -> str:
        session = self.sessions.get(entry.name)
        who = entry.who
        if entry.flaw is not None:
            return "invalid_request"
        if session is None:
            self.sessions[entry.name] = Session(
                agent=entry.agent,
                user=who.user or who.acting,
                tags=who.tags or (),
                parent=who.parent,
                state=dict(entry.patch),
                created_at=self.now,
                name=entry.name,
            )
            return "created"
        if is_anothers(who, session):
            return "session_not_found"
        if session.agent != entry.agent:
            return "agent_type_mismatch"
        return "identity_mismatch" if changed(who, session) else "existing"

    def fail(self, name: Name, acting: str | None) -> str:
        session = self.sessions.get(name)
        if session is None or is_anothers(Identity(acting), session):
            return "session_not_found"
        if session.runs:
            return "has_run"
        if session.status == "failed":
            return "unchanged"
        session.status, session.first_run_due = "failed", False
        self.tell_parent(session, "failed")
        return "failed"

    def tree(self, name: Name, acting: str | None) -> list[Name]:
        """Return a session and all that name it, or one of them, as their parent."""
        found: list[Name] = []
        level = [name]
        while level:
            level = [
                each
                for each in level
                if each in self.sessions and not is_anothers(Identity(acting), self.sessions[each])
            ]
            found += level
            parents = {session_id for _, session_id in level}
            level = [
                (tenant_id, session_id)
                for (tenant_id, session_id), session in self.sessions.items()
                if tenant_id == name[0] and session.parent in parents
                if (tenant_id, session_id) not in found
            ]
        return found

    def delete(self, name: Name, acting: str | None) -> tuple[str, int]:
        tree = self.tree(name, acting)
        if tree:
            self.tell_parent(self.sessions[name], "failed")
        for each in tree:
            del self.sessions[each]
        return ("deleted" if tree else "not_found"), len(tree)
