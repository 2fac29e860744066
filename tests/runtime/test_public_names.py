"""The public surface of the runtime: what stands in `__all__`, and nothing else."""

import inspect

import lockgate

DUE = {
    "Continue",
    "Executor",
    "FromCheckpoint",
    "ProxyExecutor",
    "REQUEST_KEY_HEADER",
    "REQUEST_KEY_PATTERN",
    "RequestAlreadyCompleted",
    "RequestKeyConflict",
    "ResumeOptions",
    "SessionHandle",
    "WithMessage",
    "classify_entry_failure",
    "ignored_request_key_warner",
    "parse_request_key",
    "plan_keyed_entry",
}


def test_each_public_name_is_there_and_said_once() -> None:
    assert len(set(lockgate.__all__)) == len(lockgate.__all__)
    assert all(hasattr(lockgate, name) for name in lockgate.__all__)
    assert set(lockgate.__all__) >= DUE


def test_nothing_else_is_public() -> None:
    shown = {
        name
        for name, thing in vars(lockgate).items()
        if not name.startswith("_") and not inspect.ismodule(thing)
    }
    assert shown == set(lockgate.__all__)
