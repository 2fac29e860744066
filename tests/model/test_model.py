"""The gate's model, checked by Spin: what must hold does, and each planted mistake is found.

One case with its trail:    pytest tests/model -k retry-interrupts --basetemp /tmp/trail
"""

import os
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.model.cases import CASES, HOLDING, PLANTED, Case
from tests.model.checker import HERE, LONG_LIMIT_S, Verdict, check, missing_programs

INSTALL = "apt-get install spin gcc libc6-dev"
LONG = (pytest.mark.long, pytest.mark.timeout(2 * LONG_LIMIT_S))
AT_ONCE = 2  # A verifier has one processor and up to a few hundred megabytes.


class Spread(dict[str, Future[Verdict]]):
    """Checks a case when it is asked for."""

    def __init__(self, home: Path) -> None:
        super().__init__()
        self._home = home

    def __missing__(self, name: str) -> Future[Verdict]:
        (case,) = [case for case in CASES if case.name == name]
        verdict: Future[Verdict] = Future()
        verdict.set_result(check(case, self._home / name))
        return verdict


@pytest.fixture(scope="session")
def verdicts(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mapping[str, Future[Verdict]]]:
    """Check the cases of this session in their order, while the tests wait each for its own.

    Where the suite is spread over processes, each of them checks only what it is given.
    """
    missing = missing_programs()
    if missing:
        pytest.skip(f"no {' and no '.join(missing)} here: {INSTALL}")
    asked = {item.nodeid.partition("[")[2].rstrip("]") for item in request.session.items}
    home = tmp_path_factory.mktemp("model")
    if "PYTEST_XDIST_WORKER" in os.environ:
        yield Spread(home)
        return
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield {
            case.name: pool.submit(check, case, home / case.name)
            for case in CASES
            if case.name in asked
        }
        pool.shutdown(wait=True, cancel_futures=True)


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case.name, marks=LONG if case.is_long else ()) for case in CASES],
)
def test_the_model_does_what_its_case_says(
    verdicts: Mapping[str, Future[Verdict]], case: Case
) -> None:
    verdict = verdicts[case.name].result()

    assert verdict.holds is case.holds, verdict.says


def test_each_mistake_that_can_be_planted_is_planted() -> None:
    pages = "".join(page.read_text() for page in HERE.glob("*.pml"))
    can_be = set(re.findall(r"\bFAULT_\w+", pages)) - {"FAULT_x"}
    planted = {flag for case in PLANTED for flag in re.findall(r"FAULT_\w+", case.flags)}

    assert planted == can_be


def test_each_scenario_has_a_case_that_holds() -> None:
    scenarios = set(re.findall(r"^#ifdef (SC_\w+)", (HERE / "gate.pml").read_text(), re.M))

    assert {flag for case in HOLDING for flag in re.findall(r"SC_\w+", case.flags)} == scenarios


def test_no_two_cases_have_one_name() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
