"""How a SQL file is written: one function a file, one screen a function, a header that travels."""

import re
from functools import cache

import pytest

import lockgate_sql
from tests.support.sources import SqlFile, function_files, granted, sql_files

LONGEST_BODY = 70
WIDEST_LINE = 100
HEADER_WORDS = ["Locks", "Writes", "Outcomes", "Findings", "Raises"]
# These two are statements about all other files, and need to say so by text.
MAY_EXECUTE = {"rules/reset.sql", "grants.sql"}


def test_the_manifest_lists_every_file_once() -> None:
    listed = lockgate_sql.manifest()
    files = {file.path for file in sql_files()} - {lockgate_sql.MANIFEST}

    assert sorted(listed) == sorted(set(listed)), "a file is listed twice"
    assert set(listed) == {path for path in files if not path.startswith("migrations/")}


def test_a_rule_file_holds_one_thing_named_after_it() -> None:
    wrong = []
    for file in sql_files():
        if not file.path.startswith(("rules/", "views/")) or file.path == "rules/reset.sql":
            continue
        made = file.functions + file.views or [name for name in file.types if name == file.stem]
        if made != [file.stem]:
            wrong.append((file.path, made))

    assert wrong == []


def test_a_table_file_holds_what_is_named_after_it() -> None:
    for file in sql_files():
        if file.path.startswith("tables/") and file.path != "tables/schema.sql":
            made = re.findall(r"^create table if not exists lockgate_store\.(\w+)", file.text, re.M)
            assert made in ([file.stem], []), file.path
            assert file.text.startswith("-- "), f"{file.path} does not say what a row is"


def test_a_function_fits_on_a_screen() -> None:
    sizes = {file.path: len(file.body) for file in function_files()}

    assert {path: size for path, size in sizes.items() if size > LONGEST_BODY} == {}
    assert 0 not in sizes.values(), "a body was not found"


def test_a_line_has_at_most_a_hundred_columns() -> None:
    wide = [
        f"{file.path}:{number}"
        for file in sql_files()
        for number, line in enumerate(file.text.splitlines(), 1)
        if len(line) > WIDEST_LINE or line != line.rstrip() or "\t" in line
    ]

    assert wide == []


def test_a_body_opens_with_its_purpose() -> None:
    assert [file.path for file in function_files() if not file.header] == []
    assert [
        file.path
        for file in sql_files()
        if file.path.startswith("views/") and "?\n" not in file.text
    ] == [], "a view opens with the question that it answers"


def test_a_header_uses_the_known_words_in_their_order() -> None:
    wrong = {
        file.path: file.header_words
        for file in function_files()
        if file.header_words != [word for word in HEADER_WORDS if word in file.header_words]
    }

    assert wrong == {}


def test_a_public_writer_says_what_it_locks_and_writes() -> None:
    missing = {
        file.path: [word for word in ("Locks", "Writes") if word not in file.header_words]
        for file in function_files()
        if file.stem in granted()
        and re.search(r"\bvolatile\b", file.signature)
        and re.search(r"\b(insert into|update|delete from)\b|lockgate\.enter\(", file.code)
    }

    assert {path: words for path, words in missing.items() if words} == {}


@cache
def enums() -> dict[str, list[str]]:
    found = {}
    for file in sql_files():
        for name, labels in re.findall(
            r"create type lockgate\.(\w+) as enum \((.*?)\);", file.text, re.S
        ):
            found[name] = re.findall(r"'(\w+)'", labels)
    return found


@cache
def outcome_enum(file: SqlFile) -> str | None:
    """Return the enum of the first field of what a function returns, if it is one."""
    returned = re.search(r"returns (?:setof )?lockgate\.(\w+)", file.signature)
    if returned is None:
        return None
    for other in sql_files():
        found = re.search(
            rf"create type lockgate\.{returned.group(1)} as \(\s*outcome lockgate\.(\w+)",
            other.text,
        )
        if found:
            return found.group(1)
    return returned.group(1) if returned.group(1) in enums() else None


def test_a_header_lists_the_labels_of_its_enum_in_their_order() -> None:
    wrong = {
        file.path: file.listed_outcomes
        for file in function_files()
        if file.listed_outcomes and file.listed_outcomes != enums()[outcome_enum(file) or ""]
    }

    assert wrong == {}


def test_a_public_function_that_answers_an_outcome_says_which() -> None:
    silent = [
        file.path
        for file in function_files()
        if file.stem in granted() and outcome_enum(file) and "Outcomes" not in file.header_words
    ]

    assert silent == []


def test_a_function_says_how_volatile_it_is() -> None:
    silent = [
        file.path
        for file in function_files()
        if len(re.findall(r"\b(immutable|stable|volatile)\b", file.signature)) != 1
    ]

    assert silent == []


NEVER = {
    "an exception block": r"\bexception\s+when\b|^\s*exception\s*$",
    "dynamic SQL": r"\bexecute\b",
    "returns table": r"\breturns\s+table\b",
    "for update": r"\bfor\s+(update|share|key\s+share)\b",
    "a trigger": r"\btrigger\b",
    "select *": r"\bselect\s+\*",
    "(f()).*": r"\(\s*lockgate\.\w+\([^()]*\)\s*\)\.\*",
    "a run's insert that names its conflict": r"into lockgate_store\.runs\b[^;]*on conflict \(",
    "a wall clock": r"\b(now|current_timestamp|localtimestamp|statement_timestamp)\b(?!\s*\()"
    r"|(?<!lockgate\.)\bnow\(\)",
}


@pytest.mark.parametrize("name", NEVER)
def test_a_rule_never_has(name: str) -> None:
    found = [
        file.path
        for file in sql_files()
        if file.path.startswith("rules/")
        and file.path not in MAY_EXECUTE
        and re.search(NEVER[name], file.code.replace("lockgate.now", "clock"), re.M | re.I)
    ]

    assert found == []


def row_variables(file: SqlFile) -> dict[str, str]:
    return dict(re.findall(r"\b([pv]_\w+) (lockgate(?:_store)?\.\w+)", file.code))


def test_a_whole_row_goes_only_into_a_row_variable() -> None:
    wrong = [
        f"{file.path}: {name}"
        for file in function_files()
        for name in re.findall(r"select \w+\.\* into (\w+)|returning \w+\.\* into (\w+)", file.code)
        if ("".join(name)) not in row_variables(file)
    ]

    assert wrong == []


def test_a_row_is_never_tested_for_presence_by_null() -> None:
    """`v_row is not null` is false when any of its fields is null."""
    wrong = [
        f"{file.path}: {name}"
        for file in function_files()
        for name, type_ in row_variables(file).items()
        if type_.split(".")[1] not in enums()
        and re.search(rf"\b{name} is (not )?null\b", file.code)
    ]

    assert wrong == []


def test_what_is_stored_refers_to_no_rule() -> None:
    """Or the reset of schema lockgate would not be free."""
    assert [
        file.path
        for file in sql_files()
        if file.path.startswith("tables/") and re.search(r"\blockgate\.", file.code)
    ] == []


def test_own_errors_are_of_class_lg() -> None:
    wrong = [
        file.path
        for file in sql_files()
        if file.path.startswith("rules/")
        and file.path != "rules/reset.sql"
        and len(re.findall(r"\braise\b", file.code))
        != len(re.findall(r"\braise sqlstate 'LG\d{3}' using", file.statements))
    ]

    assert wrong == []


def test_a_header_names_the_lg_codes_that_its_body_raises() -> None:
    wrong = [
        f"{file.path}: {code}"
        for file in function_files()
        for code in re.findall(r"raise sqlstate '(LG\d{3})'", file.statements)
        if code not in "\n".join(file.header)
    ]

    assert wrong == []
