"""Each outcome that a rule can answer is held by a test that says so."""

import ast
import re
from functools import cache

from lockgate.codes import RejectCause
from tests.support.sources import function_files, granted, sql_files, test_modules
from tests.tidy.test_sql_files import enums, outcome_enum


@cache
def marks(decorator: str) -> dict[str, list[object]]:
    """Return what each test says by `@proves(…)` or `@case(…)`."""
    found: dict[str, list[object]] = {}
    for module in test_modules():
        for function in module.functions:
            for mark in function.decorator_list:
                if isinstance(mark, ast.Call) and getattr(mark.func, "id", "") == decorator:
                    said = [arg.value for arg in mark.args if isinstance(arg, ast.Constant)]
                    found.setdefault(f"{module.name}::{function.name}", []).extend(said)
    return found


@cache
def proven() -> set[str]:
    return {str(label) for labels in marks("proves").values() for label in labels}


@cache
def answers() -> dict[str, str]:
    """Return the enum of each public function that answers one."""
    found = {file.stem: outcome_enum(file) for file in function_files() if file.stem in granted()}
    return {name: enum for name, enum in found.items() if enum}


def test_each_label_is_proven_by_a_test() -> None:
    unproven = []
    for enum, labels in enums().items():
        names = {enum, *(function for function, answered in answers().items() if answered == enum)}
        unproven += [
            f"{enum}.{label}"
            for label in labels
            if not any(f"{name}.{label}" in proven() for name in names)
        ]

    assert unproven == []


def test_each_label_that_a_header_lists_is_proven_for_that_function() -> None:
    unproven = [
        f"{file.stem}.{label}"
        for file in function_files()
        if file.stem in granted()
        for label in file.listed_outcomes
        if f"{file.stem}.{label}" not in proven()
    ]

    assert unproven == []


def test_each_cause_of_a_rejected_start_is_proven_by_a_test() -> None:
    assert [cause for cause in RejectCause if f"cause.{cause}" not in proven()] == []


def test_each_proof_names_a_label_that_there_is() -> None:
    known = {f"{enum}.{label}" for enum, labels in enums().items() for label in labels}
    known |= {f"{name}.{label}" for name, enum in answers().items() for label in enums()[enum]}
    known |= {f"cause.{cause}" for cause in RejectCause}
    known |= {"sweep.first_run_overdue", "sweep.batch_complete", "sweep.end_due"}  # No takeovers.

    assert proven() - known == set()


def test_each_case_is_a_number_of_the_collection() -> None:
    wrong = {
        test: numbers
        for test, numbers in marks("case").items()
        if not numbers or not all(isinstance(n, int) and 1 <= n <= 54 for n in numbers)
    }

    assert wrong == {}


def test_the_folders_of_the_rules_tests_mirror_those_of_the_rules() -> None:
    """Listing the test folder teaches the product: a test file is named after a function."""
    known = {re.sub(r"\.sql$", "", file.path) for file in sql_files()}
    strangers = [
        module.name
        for module in test_modules()
        if (found := re.fullmatch(r"tests/(rules/\w+/)test_(\w+)\.py", module.name))
        and found.group(1) != "rules/views/"
        and "".join(found.groups()) not in known
    ]

    assert strangers == []
