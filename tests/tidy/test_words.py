"""One word per idea, in SQL too; and nothing is left for later."""

import re

from tests.support.sources import ROOT, modules, sql_files, test_modules

WRONG_WORDS = {"task", "tasks", "job", "jobs", "thread", "threads", "conversation", "conversations"}
LATER = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")


def test_no_wrong_word_is_an_identifier_in_sql() -> None:
    found = [
        f"{file.path}: {word}"
        for file in sql_files()
        for word in set(re.findall(r"[a-z_]+", file.code))
        if set(word.split("_")) & WRONG_WORDS
    ]

    assert found == []


def test_nothing_is_left_for_later() -> None:
    texts = {file.path: file.text for file in sql_files()}
    texts |= {module.name: module.text for module in (*modules(), *test_modules())}
    texts |= {name: (ROOT / name).read_text() for name in ("README.md", "pyproject.toml")}

    assert [name for name, text in texts.items() if LATER.search(text)] == []


def test_a_test_is_named_as_a_sentence() -> None:
    short = [
        f"{module.name}::{function.name}"
        for module in test_modules()
        for function in module.functions
        if function.name.startswith("test_")
        and function.name.count("_") < 3
        and module.path.name != "sources.py"
    ]

    assert short == []
