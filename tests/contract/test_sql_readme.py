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


def decisions(view: str) -> tuple[list[str], list[list[str]]]:
    """Return a decision table's columns and rows."""
    text = lockgate_sql.text(f"rules/policies/{view}.sql")
    (columns,) = re.findall(rf"create view lockgate\.{view} \(([^)]*)\)", text)
    rows = re.findall(r"^  \((.*)\)[,;]$", text, re.M)
    return columns.split(", "), [re.findall(r"'(\w+)'", row) for row in rows]


def rows_of(view: str) -> str:
    """Print a decision table as it is."""
    columns, rows = decisions(view)
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    lines += ["| " + " | ".join(f"`{word}`" for word in row) + " |" for row in rows]
    return "\n".join(lines)


def admissions() -> str:
    """Print which drive a session takes, one line a standing."""
    _, rows = decisions("drive_admissions")
    verdicts: dict[str, dict[str, str]] = {}
    for standing, drive, verdict in rows:
        verdicts.setdefault(standing, {})[drive] = verdict
    drives = ("start", "resume", "retry")
    lines = [f"| standing | {' | '.join(drives)} |", "|---" * (1 + len(drives)) + "|"]
    for standing, of in verdicts.items():
        lines.append(f"| `{standing}` | " + " | ".join(f"`{of[each]}`" for each in drives) + " |")
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("outcomes", outcomes()),
        ("policies", rows_of("entry_policies")),
        ("admissions", admissions()),
        ("transitions", rows_of("run_transitions")),
    ],
)
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
