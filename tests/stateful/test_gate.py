"""Thousands of random lives of a few sessions agree with a small model, at each step.

After each step the rows are those of the model, and the invariants hold.
"""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.stateful.model import MAX_ATTEMPTS
from tests.stateful.world import NAMES, Held, World
from tests.support.cluster import Cluster
from tests.support.door import Drive, tool

names = st.sampled_from(NAMES)
recent = st.sampled_from([0, 0, 0, 1, 2, 5])  # The newest first: what was lost long ago is rarer.
WORKERS = ["worker-1", "worker-2"]
workers = st.sampled_from(WORKERS)
findings = st.sampled_from(["raised", "drained", "closed_owner", "owner_dead", "unserved"])


class Gate(World):
    """A few sessions, and every rule that a caller, a worker or a sweeper can call."""

    @initialize(worker=workers)
    def a_first_run_is_driven(self, worker: str) -> None:
        self.time_passes(0, WORKERS)
        self.someone_starts("s1", "hi", "k1", "reject", None)
        self.a_worker_claims(0, worker)

    # Time and workers.

    @rule(
        seconds=st.sampled_from([0, 1, 4, 6, 31, 120]),
        beating=st.sampled_from([WORKERS, WORKERS, WORKERS[:1], []]),
    )
    def time_passes(self, seconds: int, beating: list[str]) -> None:
        self.clock.forward(seconds=seconds)
        self.model.now += seconds
        for worker in beating:
            self.door.beat(worker)
            self.model.beats[worker] = self.model.now

    # Entries.

    @rule(
        name=names,
        say=st.sampled_from(["hi", "no"]),
        key=st.sampled_from([None, None, "k1", "k2", "k3"]),
        policy=st.sampled_from(["reject", "reject", "interrupt_previous"]),
        plan=st.sampled_from([None, None, "fresh", "another run", "another status"]),
    )
    def someone_starts(
        self, name: str, say: str, key: str | None, policy: str, plan: str | None
    ) -> None:
        answer = self.door.start(
            name, say, request_key=key, concurrent_entry=policy, expect=self.expectation(name, plan)
        )

        assert answer.outcome == self.model.start(name, say, key, policy, plan)
        if answer.outcome == "started":
            turn = len(self.model.sessions[name].runs)
            self.ids[name, turn] = answer.run_id
            assert answer.start_sequence == self.model.sessions[name].head
        elif answer.run_id is not None:
            assert answer.run_id in self.ids.values()

    @precondition(lambda self: self.keyed())
    @rule(nth=recent, other=st.sampled_from([False, False, True]))
    def someone_asks_again(self, nth: int, other: bool) -> None:
        name, run = self.keyed()[nth % len(self.keyed())]
        say = "something else" if other else run.say
        answer = self.door.start(name, say, request_key=run.key)

        assert answer.outcome == self.model.start(name, say, run.key, "reject", None)
        assert (answer.run_id, answer.run_status) == (self.id_of(name, run), run.status)

    @precondition(lambda self: self.never_run())
    @rule(nth=recent, fails=st.booleans())
    def a_session_comes_without_a_run(self, nth: int, fails: bool) -> None:
        name = self.never_run()[nth % len(self.never_run())]
        if fails:
            answer = self.door.call("fail_session_without_run", session_id=name, error_detail={})
            assert answer.outcome == self.model.fail(name)
        else:
            assert self.door.create_session(name).outcome == self.model.create(name)

    # Drives.

    @precondition(lambda self: self.running())
    @rule(nth=recent, worker=workers)
    def a_worker_claims(self, nth: int, worker: str) -> None:
        unclaimed = [(name, run) for name, run in self.running() if run.owner is None]
        choice = unclaimed or self.running()
        name, run = choice[nth % len(choice)]
        answer = self.door.claim(self.id_of(name, run), worker_id=worker)

        assert answer.outcome == self.model.claim(self.model.sessions[name], run, worker)
        if answer.outcome == "claimed":
            assert (answer.attempt, answer.step_count) == (run.attempt, run.steps)
            drive = Drive(self.door, self.id_of(name, run), answer.attempt, answer.head_sequence)
            self.held.append(Held(name, run, drive))

    @precondition(lambda self: self.held)
    @rule(nth=recent, worker=workers)
    def a_drive_is_dispatched_again(self, nth: int, worker: str) -> None:
        held = self.newest(nth)
        answer = self.door.claim(held.drive.run_id, worker_id=worker, drive_id=held.drive.drive_id)

        assert answer.outcome == "over"

    @precondition(lambda self: self.held)
    @rule(nth=recent, count=st.integers(1, 3))
    def a_worker_appends(self, nth: int, count: int) -> None:
        held = self.newest(nth)
        batch = [f"text {number}" for number in range(count)]
        after = held.drive.head
        answer = held.drive.append(*batch)

        expected = self.model.append(self.session(held), held.run, held.drive.attempt, count)
        assert answer.outcome == expected
        held.last_batch = (after, batch) if answer.outcome == "appended" else (0, [])

    @precondition(lambda self: self.held)
    @rule(nth=recent)
    def an_append_is_repeated(self, nth: int) -> None:
        held = self.newest(nth)
        after, batch = held.last_batch
        if batch:
            valid = self.model.holds(held.run, held.drive.attempt)

            answer = held.drive.append(*batch, after=after)
            assert answer.outcome == ("repeated" if valid else "fenced")

    @precondition(lambda self: self.held)
    @rule(nth=recent, calls=st.integers(0, 2))
    def a_worker_replies(self, nth: int, calls: int) -> None:
        held = self.newest(nth)
        step = held.run.steps + 1
        answer = held.drive.reply(step, "said", *(tool() for _ in range(calls)))

        assert answer.outcome == self.model.reply(
            self.session(held), held.run, held.drive.attempt, calls
        )

    @precondition(lambda self: self.held)
    @rule(nth=recent, ordinal=st.integers(1, 3))
    def a_tool_answers(self, nth: int, ordinal: int) -> None:
        held = self.newest(nth)
        answer = held.drive.result(held.run.steps + 1, ordinal)

        assert answer.outcome == self.model.result(
            self.session(held), held.run, held.drive.attempt, ordinal
        )

    @precondition(lambda self: self.held)
    @rule(nth=recent)
    def a_worker_commits_a_step(self, nth: int) -> None:
        held = self.newest(nth)
        step = held.run.steps + 1 if held.run.calls else held.run.steps
        expected = self.model.step(self.session(held), held.run, held.drive.attempt)

        assert self.label(held.drive.step, step) == expected

    @precondition(lambda self: self.held)
    @rule(nth=recent, calls=st.integers(0, 2))
    def a_worker_does_a_whole_step(self, nth: int, calls: int) -> None:
        held = self.newest(nth)
        if self.model.holds(held.run, held.drive.attempt) and not held.run.calls:
            self.a_worker_replies(nth, calls)
            for ordinal in range(1, calls + 1):
                self.a_tool_answers(nth, ordinal)
            if calls:
                self.a_worker_commits_a_step(nth)

    @precondition(lambda self: self.held)
    @rule(nth=recent, status=st.sampled_from(["completed", "failed", "stopped"]))
    def a_worker_finishes(self, nth: int, status: str) -> None:
        held = self.newest(nth)
        expected = self.model.finish(held.name, held.run, held.drive.attempt, status)

        assert self.label(held.drive.finish, status) == expected

    # Recovery and settlement.

    @precondition(lambda self: self.running())
    @rule(nth=recent, status=st.sampled_from(["ERROR", "ERROR", "CANCELLED"]))
    def a_workflow_closes(self, nth: int, status: str) -> None:
        name, run = self.running()[nth % len(self.running())]
        self.door.set_workflow(self.id_of(name, run), status=status)
        run.workflow = status

    @precondition(lambda self: self.running())
    @rule(nth=recent, finding=findings, worker=workers)
    def somebody_requeues(self, nth: int, finding: str, worker: str) -> None:
        name, run = self.running()[nth % len(self.running())]
        answer = self.door.requeue(
            self.id_of(name, run), finding, worker_id=worker, max_attempts=MAX_ATTEMPTS
        )

        assert answer.outcome == self.model.requeue(name, run, finding, worker)

    @precondition(lambda self: self.held)
    @rule(nth=recent, finding=findings, worker=workers)
    def a_finding_comes_late(self, nth: int, finding: str, worker: str) -> None:
        held = self.newest(nth)
        if held.run.status != "running" or held.run.attempt != held.drive.attempt:
            answer = self.door.requeue(
                held.drive.run_id, finding, worker_id=worker, drive_id=held.drive.drive_id
            )

            assert answer.outcome == "stale"

    @rule(consumer=st.sampled_from(["hook", "webhook:crm"]), mark=st.booleans())
    def a_consumer_takes_its_settlements(self, consumer: str, mark: bool) -> None:
        for due in self.door.call_many("claim_settlements", consumer=consumer, limit=2):
            turn = self.turn_of(due.run_id)
            assert (due.session_id, turn, due.status) in self.model.settled
            if mark:
                marked = self.door.call(
                    "mark_delivered", delivery_id=due.delivery_id, consumer=consumer
                )
                assert marked.outcome == "marked"


def live(cluster: Cluster, examples: int, steps: int) -> None:
    with cluster.lend("frozen") as database:

        class GateOfThisDatabase(Gate):
            def __init__(self) -> None:
                super().__init__(database)

        run_state_machine_as_test(
            GateOfThisDatabase,
            settings=settings(
                max_examples=examples,
                stateful_step_count=steps,
                deadline=None,
                suppress_health_check=list(HealthCheck),
            ),
        )


def test_random_lives_agree_with_the_model(cluster: Cluster) -> None:
    live(cluster, examples=80, steps=50)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_many_random_lives_agree_with_the_model(cluster: Cluster) -> None:
    live(cluster, examples=2000, steps=80)
