"""Lockgate over HTTP: HTTP only, no SQL and no decisions."""

from lockgate_api.app import create_app
from lockgate_api.auth import Authenticate, Principal
from lockgate_api.front import Drain

__all__ = ["Authenticate", "Drain", "Principal", "create_app"]
