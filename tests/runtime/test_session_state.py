"""A session's state in one attempt: whose change is saved when."""

from typing import Any

import pytest

from lockgate.chunks import ChunkMaker, is_too_large
from lockgate.schema import Schema
from lockgate.session_state import SessionState, patch_operations


def test_a_change_is_seen_at_once_and_saved_with_its_own_call() -> None:
    state = SessionState({"a": 0, "kept": 1})
    state.update(1, {"a": 1})
    state.update(2, {"b": 2})
    assert state.seen() == {"a": 1, "b": 2, "kept": 1}
    assert state.saves(2) == {"a": 0, "b": 2, "kept": 1}
    state.saved(2)
    assert state.saves(1) == {"a": 1, "b": 2, "kept": 1}
    assert state.saves(2) is None


def test_the_later_change_of_one_call_wins() -> None:
    state = SessionState({})
    state.update(1, {"a": 1, "b": 1})
    state.update(1, {"a": 2})
    assert state.changes_of(1) == {"a": 2, "b": 1}


def test_what_is_dropped_was_never_there() -> None:
    state = SessionState({"a": 0})
    state.update(1, {"a": 1})
    state.update(2, {"c": 1})
    state.drop(1)
    assert state.seen() == {"a": 0, "c": 1}
    assert state.saves(1) is None


def test_a_change_must_be_an_object_that_can_be_stored_and_fits() -> None:
    state = SessionState({"n": 1}, Schema({"properties": {"n": {"type": "integer"}}}))
    wrong: list[Any] = [[], {"n": "x"}, {"m": object()}, {"m": "x" * 1_000_001}]
    for each in wrong:
        with pytest.raises(ValueError, match=r"\w"):
            state.update(1, each)
    assert state.seen() == {"n": 1}


def test_a_patch_names_members_as_pointers_do() -> None:
    assert patch_operations({"a/b~c": None}) == [{"op": "add", "path": "/a~1b~0c", "value": None}]


def test_a_change_that_its_chunk_could_not_tell_is_refused() -> None:
    """Or the body would have run, and its result would be lost with the run."""
    state = SessionState({"kept": 1})
    half = {f"n{n}": n for n in range(12_000)}
    state.update(1, half)
    with pytest.raises(ValueError, match="readers"):
        state.update(1, {f"m{n}": n for n in range(12_000)})
    assert state.changes_of(1) == half
    state.update(2, {"wide": [1] * 300_000})

    chunks = ChunkMaker("s" * 256, "a" * 128)
    for ordinal in (1, 2):
        patches = patch_operations(state.changes_of(ordinal))
        assert not is_too_large(chunks.chunk("state_patch", 1, patches=patches))
