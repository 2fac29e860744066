"""The tables of the rules' own page are printed from the rules, and the page is held to them.

`pytest tests/contract/test_sql_readme.py --print-tables` writes them anew.
"""

import re
from pathlib import Path

import pytest

import lockgate_sql

PAGE = Path(lockgate_sql.__file__).parent / "README.md"


def outcomes() -> str:
    """Print each function's outcomes, in their order."""
    lines = ["| type | outcomes, first that applies |", "|---|---|"]
    for path in lockgate_sql.rule_files():
        for name, labels in re.findall(
            r"create type lockgate\.(\w+) as enum \(([^)]*)\)", lockgate_sql.text(path)
        ):
            listed = " · ".join(f"`{label}`" for label in re.findall(r"'(\w+)'", labels))
            lines.append(f"| `{name}` | {listed} |")
    return "\n".join(lines)


def policies() -> str:
    """Print the rows of the decision table."""
    rows = re.findall(
        r"\('(\w+)', '(\w+)'\)", lockgate_sql.text("rules/policies/entry_policies.sql")
    )
    lines = ["| policy | verdict |", "|---|---|"]
    return "\n".join([*lines, *(f"| `{policy}` | `{verdict}` |" for policy, verdict in rows)])


@pytest.mark.parametrize(("name", "printed"), [("outcomes", outcomes()), ("policies", policies())])
def test_a_printed_table_is_what_the_rules_say(
    name: str, printed: str, request: pytest.FixtureRequest
) -> None:
    page = PAGE.read_text()
    before, _, rest = page.partition(f"<!-- {name} -->\n")
    shown, mark, after = rest.partition(f"<!-- /{name} -->")
    assert mark
    if request.config.getoption("--print-tables"):
        PAGE.write_text(f"{before}<!-- {name} -->\n{printed}\n{mark}{after}")
        shown = printed

    assert shown.strip() == printed


def test_every_error_that_a_rule_raises_is_on_the_page() -> None:
    text = "".join(lockgate_sql.text(path) for path in lockgate_sql.rule_files())
    raised = set(re.findall(r"raise sqlstate '(LG\d{3})'", text))

    assert raised
    assert raised <= set(re.findall(r"^\| (LG\d{3}) \|", PAGE.read_text(), flags=re.MULTILINE))
