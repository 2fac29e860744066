"""What is asked of the installation itself, and not of a session."""

from __future__ import annotations

from lockgate.outcomes import CheckInstallationResult
from lockgate.rules.call import Connection, call_one


async def check_installation(conn: Connection) -> CheckInstallationResult:
    """Say which release is installed, and what of it is missing or invalid."""
    return await call_one(conn, CheckInstallationResult, "check_installation")
