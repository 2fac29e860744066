"""The conformance cases are answered as they say, and there is one for whatever is promised."""

import asyncio
import itertools
import re
from collections.abc import Iterator

import pytest

from lockgate.outcomes import EntryOutcome
from tests.contract.cases.player import CASES, FOLDER, STAGE, TABLES, Json, Player, expanded
from tests.support.cluster import Cluster


@pytest.fixture(scope="module")
def player(cluster: Cluster) -> Iterator[Player]:
    """A player on a database of its own."""
    with asyncio.Runner() as runner, cluster.lend("real") as database:
        player = Player(database, runner)
        yield player
        player.close()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_case_is_answered_as_it_says(player: Player, case: Json) -> None:
    player.play(case)


STEP = {"call", "prepare", "scene", "with", "expect", "save", "writes", "breaks"}


def steps(case: Json) -> Iterator[Json]:
    """Return what a case asks, those asked together one by one."""
    for part in ("given", "calls", "after"):
        for step in case.get(part, []):
            yield from step.get("together", [step])


def test_each_named_scenario_has_a_case_and_each_case_is_named() -> None:
    page = (FOLDER / "README.md").read_text()
    scenarios = page.partition("## Scenarios")[2].partition("## Not here")[0]
    listed = set(re.findall(r"`([a-z-]+\.[\w-]+)`", scenarios))

    assert {case["name"].partition("/")[0] for case in CASES} == listed
    assert len({case["name"] for case in CASES}) == len(CASES)


def test_each_step_is_of_the_format_and_what_is_asked_has_an_expectation() -> None:
    for case in CASES:
        assert set(case) <= {"name", "why", "ids", "given", "calls", "after"}, case["name"]
        assert case["why"].endswith(".")
        assert all(set(step) <= STEP for step in steps(case)), case["name"]
        asked = [*case["calls"], *case.get("after", [])]
        asked = [step for step in asked if step.keys() & {"call", "together"}]
        assert all(step.keys() & {"expect", "answers"} for step in asked), case["name"]


def test_each_pair_of_rules_is_asked_or_cannot_be_broken_at_once(subtests: pytest.Subtests) -> None:
    for table in TABLES:
        with subtests.test(table["name"]):
            asked = [
                tuple(step["breaks"])
                for case in expanded(table)
                for step in case["calls"]
                if step["call"] == table["call"]
            ]
            apart = [tuple(pair["rules"]) for pair in table["apart"]]
            pairs = set(itertools.combinations(table["rules"], 2))
            assert all(pair["because"] for pair in table["apart"])
            assert len({*asked, *apart}) == len(asked) + len(apart)
            assert {pair for pair in asked if pair[0] != pair[1]} | set(apart) == pairs


def test_a_table_of_rules_knows_every_label_in_its_order(subtests: pytest.Subtests) -> None:
    for table in TABLES:
        with subtests.test(table["name"]):
            answers = [table["answers"][rule] for rule in table["rules"]]
            told = {answer["outcome"] for answer in answers}
            assert not told & set(table["never"])
            assert told | set(table["never"]) == set(EntryOutcome)
            # These have the label of another rule too, and the enum has one place for each label.
            ranks = [list(EntryOutcome).index(answer["outcome"]) for answer in answers]
            late = ("unknown_checkpoint", "history_is_shorter", "run_id_conflict")
            kept = [r for rule, r in zip(table["rules"], ranks, strict=True) if rule not in late]
            assert kept == sorted(kept)


def test_every_preparation_is_needed_and_says_why() -> None:
    used = {step["prepare"] for case in CASES for step in steps(case) if "prepare" in step}
    used |= {
        step["prepare"] for scene in STAGE["scenes"].values() for step in scene if "prepare" in step
    }

    assert used == set(STAGE["preparations"])
    assert all(each["why"] for each in STAGE["preparations"].values())
