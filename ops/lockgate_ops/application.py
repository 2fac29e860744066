"""The application that a process serves: its Runtime, and who says who asks.

Loads `module:attribute` as a web server does, with the working directory on the path. Knows no
database and opens nothing.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from lockgate import Runtime
from lockgate_ops.demo_agents import demo_agents
from lockgate_ops.refusals import Refused

AUTHENTICATE = "authenticate"


@dataclass(frozen=True, slots=True)
class Application:
    """What the user brings. authenticate  None where nobody says who asks"""

    runtime: Runtime
    authenticate: Callable[..., Any] | None = None


def load_application(agents: str | None, authenticate: str | None = None) -> Application:
    """Load an application, or the demo agents where none is named.

    agents        `module:attribute`: a Runtime, or a function without arguments that returns one;
                  the module's own `authenticate`, if it has one, counts
    authenticate  `module:attribute` instead of the module's own
    Errors        Refused; what the module itself raises on import
    """
    if agents is None:
        runtime, own = Runtime(demo_agents()), None
    else:
        module, runtime = _load_runtime(agents)
        own = getattr(module, AUTHENTICATE, None)
    return Application(runtime, _load(authenticate)[1] if authenticate else own)


def _load_runtime(named: str) -> tuple[ModuleType, Runtime]:
    module, found = _load(named)
    runtime = found() if callable(found) and not isinstance(found, Runtime) else found
    if not isinstance(runtime, Runtime):
        raise Refused(
            f"--agents {named} is a {type(runtime).__name__}: it must be a lockgate.Runtime, or a "
            "function without arguments that returns one"
        )
    return module, runtime


def _load(named: str) -> tuple[ModuleType, Any]:
    module_name, colon, attribute = named.partition(":")
    if not (module_name and colon and attribute):
        raise Refused(f"{named!r} names nothing: say module:attribute, such as my_agents:runtime")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise  # Something that the module itself imports.
        raise Refused(
            f"there is no module {error.name!r} here: run lockgate where it lies, or install it"
        ) from None
    found: Any = module
    for name in attribute.split("."):
        if not hasattr(found, name):
            raise Refused(f"module {module_name!r} has no {attribute!r}")
        found = getattr(found, name)
    return module, found
