"""What the clients were told, and whether the rows say the same when all is over."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import psycopg

from lockgate_ops.chaos.ways import ACCEPTED, DONE_BEFORE, REFUSED, UNKNOWN, Answer
from lockgate_ops.chaos.wishes import Wish, goes_back

RUNS = "select session_id, run_id::text, request_key, turn from lockgate_store.runs"
INPUTS = """
select substring(m.content::text from 't-[0-9a-f]{32}'), m.run_id::text
  from lockgate_store.messages m where m.role = 'user'"""


@dataclass(slots=True)
class Told:
    """All that was said to one wish, whoever asked and however often."""

    wish: Wish
    answers: list[Answer] = field(default_factory=list)

    @property
    def runs(self) -> set[str]:
        """The runs that it was told are its own."""
        return {str(a.run_id) for a in self.answers if a.label in ACCEPTED | DONE_BEFORE}

    @property
    def is_unknown(self) -> bool:
        """Whether nobody knows what became of one of its requests."""
        return any(answer.label in UNKNOWN for answer in self.answers)


class Ledger:
    """Every wish with its answers."""

    def __init__(self) -> None:
        self.count: Counter[str] = Counter()
        self.raw: list[str] = []
        self._told: dict[int, Told] = {}

    def note(self, way: str, wish: Wish, answer: Answer) -> None:
        """Write down what a client was told."""
        self.count[f"{way}: {answer.label}"] += 1
        known = {*ACCEPTED, *DONE_BEFORE, *REFUSED, *UNKNOWN}
        if goes_back(wish.given):  # to a place that is there no more
            known.add("invalid_request")
        if answer.raw is not None or answer.label not in known:
            self.raw.append(f"{way} {wish.verb}: {answer}")
        self._told.setdefault(id(wish), Told(wish)).answers.append(answer)

    def disagreements(self, rows: Rows) -> Iterator[str]:
        """Say where a client was told something that the rows do not say."""
        rewound = self._rewound(rows)
        for told in self._told.values():
            for what in rows.against(told, rewound):
                yield f"{told.wish}: {what}; told {[a.label for a in told.answers]}"
        named: dict[tuple[str, str | None], set[str]] = defaultdict(set)
        for told in self._told.values():
            if told.wish.key is not None:
                named[told.wish.session_id, told.wish.key] |= told.runs
        yield from (f"key {key} named {runs}" for key, runs in named.items() if len(runs) > 1)
        strangers = rows.inputs.keys() - {told.wish.token for told in self._told.values()}
        yield from (f"nobody has sent {token}" for token in strangers)

    def accepted(self) -> int:
        """Return how many different runs the clients were told of."""
        return len(set().union(*(told.runs for told in self._told.values())))

    def _rewound(self, rows: Rows) -> dict[str, int]:
        """Return, by session, the last turn that took a history back to a checkpoint."""
        last: dict[str, int] = {}
        for told in self._told.values():
            if goes_back(told.wish.given):
                for run_id in told.runs | rows.holders(told.wish):
                    turn = rows.turns.get(run_id, 0)
                    session_id = told.wish.session_id
                    last[session_id] = max(turn, last.get(session_id, 0))
        return last


@dataclass(slots=True)
class Rows:
    """What is stored, as far as it can be held against a ledger.

    turns     of each run
    sessions  of each run
    by_key    the run that a session's key names
    inputs    the runs with which an input is stored, once for each time, by its token
    """

    turns: dict[str, int] = field(default_factory=dict)
    sessions: dict[str, str] = field(default_factory=dict)
    by_key: dict[tuple[str, str], str] = field(default_factory=dict)
    inputs: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def read(cls, connection: psycopg.Connection[Any]) -> Rows:
        """Read them, all of one look."""
        found = cls()
        with connection.transaction():
            connection.execute("set transaction isolation level repeatable read")
            for session_id, run_id, key, turn in connection.execute(RUNS.encode()):
                found.turns[run_id] = turn
                found.sessions[run_id] = session_id
                if key is not None:
                    found.by_key[session_id, key] = run_id
            for token, run_id in connection.execute(INPUTS.encode()):
                found.inputs[token].append(run_id)
        return found

    def holders(self, wish: Wish) -> set[str]:
        """Return the run that a wish's key or run id names, if there is one."""
        if wish.key is not None:
            found = self.by_key.get((wish.session_id, wish.key))
            return set() if found is None else {found}
        return {str(wish.run_id)} & self.turns.keys()

    def against(self, told: Told, rewound: dict[str, int]) -> Iterator[str]:
        """Say what is wrong with what one wish was told."""
        wish, runs = told.wish, told.runs
        if len(runs) > 1:
            yield f"it was told of {runs}"
        for run_id in runs:
            if self.sessions.get(run_id) != wish.session_id:
                yield f"there is no run {run_id}"
            elif wish.may_repeat and self.holders(wish) != runs:
                yield f"its name is of {self.holders(wish)}"
        if wish.token is not None:
            yield from self._input(told, rewound.get(wish.session_id, 0))

    def _input(self, told: Told, rewound_at: int) -> Iterator[str]:
        stored = self.inputs.get(str(told.wish.token), [])
        if len(stored) > 1:
            yield f"its input is stored {len(stored)} times"
        if not told.runs and not told.is_unknown and stored:
            yield "it was refused, and its input is stored"
        for run_id in told.runs:
            was_taken_back = not stored and self.turns.get(run_id, 0) < rewound_at
            if stored != [run_id] and not was_taken_back:
                yield f"its input is stored with {stored}"
