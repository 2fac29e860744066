"""Every row of the answers table for the routes that exist is held by a test, or excused."""

import ast
from collections import Counter
from pathlib import Path

from tests.support.rows import NOT_DUE, ROWS


def held_rows() -> Counter[str]:
    """Count the rows that the tests of this folder name."""
    return Counter(
        argument.value
        for path in Path(__file__).parent.glob("test_*.py")
        for test in ast.parse(path.read_text()).body
        if isinstance(test, ast.FunctionDef) and test.name.startswith("test_")
        for decorator in test.decorator_list
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "row"
        for argument in decorator.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    )


def test_every_row_that_is_due_has_a_test() -> None:
    assert set(ROWS) - set(held_rows()) - set(NOT_DUE) == set()


def test_no_test_names_a_row_that_is_none() -> None:
    assert set(held_rows()) - set(ROWS) == set()


def test_no_row_is_excused_that_is_held() -> None:
    assert set(NOT_DUE) <= set(ROWS)
    assert set(NOT_DUE) & set(held_rows()) == set()
    assert all(NOT_DUE.values())
