"""Where Lockgate's SQL lies, and in which order it is installed.

The rules themselves are plain SQL that psql alone can install; this module only finds the files.
"""

import re
from importlib.resources import files

MANIFEST = "install.sql"


def text(path: str) -> str:
    """Return the text of one SQL file, named by its path below this package."""
    return files(__name__).joinpath(path).read_text(encoding="utf-8")


def manifest() -> tuple[str, ...]:
    r"""Return the files that `install.sql` includes by `\ir`, in its order."""
    return tuple(re.findall(r"^\\ir (\S+)$", text(MANIFEST), flags=re.MULTILINE))


def rule_files() -> tuple[str, ...]:
    """Return the part of the manifest that remakes schema `lockgate`: all but the tables."""
    return tuple(path for path in manifest() if not path.startswith("tables/"))
