"""Who asks. The host's `authenticate` says it before anything else of a request is looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from lockgate import Actor, EntryRefused
from lockgate.contained import called
from lockgate_api.answers import verbatim
from lockgate_api.front import AnyRequest, front_of

MAX_TENANT = 128  # characters, as the store's border has it
MAX_USER = 256  # characters, as the store's border has it

# Given a request, plain or async: a Principal; None, which is 401; or the host's own response,
# which is answered as it is.
Authenticate: TypeAlias = Callable[[AnyRequest], Any]


@dataclass(frozen=True, slots=True)
class Principal:
    """Who a request comes from.

    tenant_id  '' where there are no tenants
    user_id    the end user, who meets only his own sessions; None is a trusted backend
    Errors     ValueError for an id that no session can have
    """

    tenant_id: str = ""
    user_id: str | None = None

    def __post_init__(self) -> None:
        if len(self.tenant_id) > MAX_TENANT:
            raise ValueError(f"a tenant's id has at most {MAX_TENANT} characters")
        if self.user_id is not None and not 1 <= len(self.user_id) <= MAX_USER:
            raise ValueError(f"a user's id has 1 to {MAX_USER} characters")


async def admit(request: AnyRequest) -> Any:
    """Ask `authenticate` and note who it is; return a response only where the host made one."""
    authenticate = front_of(request).authenticate
    if authenticate is None:
        request.scope["auth"] = Actor()
        return None
    found = await called(authenticate, request)
    if found is None:
        raise EntryRefused("UNAUTHORIZED", "Credentials are missing or not valid")
    if not isinstance(found, Principal):
        return verbatim(found, request)
    request.scope["auth"] = Actor(user_id=found.user_id, tenant_id=found.tenant_id)
    return None


def actor_of(request: AnyRequest) -> Actor:
    """Return who asks, as `admit` has noted it."""
    actor = request.scope["auth"]
    assert isinstance(actor, Actor)
    return actor


def refuse_other_user(actor: Actor, user_id: str | None) -> None:
    """Hold that a user acts in nobody else's name."""
    if actor.user_id is not None and user_id not in (None, actor.user_id):
        raise EntryRefused("validation_error", "userId is not the user who asks", field="userId")
