"""The gate's model, checked by Spin: what must hold does, and each planted mistake is found.

One case with its trail:    pytest tests/model -k retry-interrupts --basetemp /tmp/trail
"""

import re
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from tests.model.cases import CASES, HOLDING, PLANTED, Case
from tests.model.checker import HERE, LONG_LIMIT_S, Verdict, check, missing_programs

INSTALL = "apt-get install spin gcc libc6-dev"
LONG = (pytest.mark.long, pytest.mark.timeout(2 * LONG_LIMIT_S))
AT_ONCE = 2  # A verifier has one processor and up to a few hundred megabytes.


@pytest.fixture(scope="session")
def verdicts(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Future[Verdict]]]:
    """Check the cases of this session in their order, while the tests wait each for its own."""
    missing = missing_programs()
    if missing:
        pytest.skip(f"no {' and no '.join(missing)} here: {INSTALL}")
    asked = {item.nodeid.partition("[")[2].rstrip("]") for item in request.session.items}
    home = tmp_path_factory.mktemp("model")
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
    verdicts: dict[str, Future[Verdict]], case: Case
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
