"""The native routes: POST /sessions, and what lies under /sessions/{session_id}/.

A route reads what was sent, calls one verb of the runtime, and answers. It decides nothing.
"""

from __future__ import annotations

from litestar import Router, get, post
from litestar.response.base import ASGIResponse

from lockgate import Origin, Resume, Retry, Start
from lockgate.requests import EntryRequest, parse_resume_options
from lockgate_api import sse
from lockgate_api.answers import (
    CREATED,
    OK,
    READ_ERRORS,
    WRITE_ERRORS,
    JsonAnswer,
    failed_read,
    not_found,
)
from lockgate_api.auth import actor_of, admit, refuse_other_user
from lockgate_api.bodies import entry_body, session_body, snapshot_body, status_body
from lockgate_api.documents import (
    CURSOR,
    EVENTS,
    REQUEST_KEY,
    EntryAnswer,
    SessionAnswer,
    SnapshotAnswer,
    StatusAnswer,
    answers,
    takes,
)
from lockgate_api.front import AnyRequest, front_of
from lockgate_api.shapes import RESUME_BODY, RETRY_BODY, SESSION_BODY, START_BODY
from lockgate_api.wire import (
    cursor_of,
    identity_of,
    read_resume,
    read_retry,
    read_session,
    read_start,
    request_key_of,
    session_id_of,
)


@post(
    "/",
    status_code=CREATED,
    responses=answers(SessionAnswer, CREATED, OK, errors=WRITE_ERRORS),
    operation_class=takes(SESSION_BODY),
)
async def create_session(request: AnyRequest) -> ASGIResponse:
    """Make a session without a run. The same values again change nothing."""
    front, actor = front_of(request), actor_of(request)
    body = await read_session(request, front)
    refuse_other_user(actor, body.get("userId"))
    answer = await front.under_way.finish(
        front.runtime.create_session(
            body.get("sessionId"),
            body["agentType"],
            state=body.get("state"),
            actor=actor,
            **identity_of(body),
        )
    )
    said = session_body(answer, body["agentType"])
    return JsonAnswer(said, CREATED if said["created"] else OK)


@post(
    "/{session_id:str}/start",
    status_code=OK,
    responses=answers(EntryAnswer, errors=WRITE_ERRORS),
    operation_class=takes(START_BODY, *REQUEST_KEY),
)
async def start(request: AnyRequest) -> ASGIResponse:
    """Start a run with a user's message, on a new session or an idle one."""
    front, actor = front_of(request), actor_of(request)
    session_id = session_id_of(request)
    request_key = request_key_of(request)
    body = await read_start(request, front, session_id)
    refuse_other_user(actor, body.get("userId"))
    asked = Start(
        session_id,
        body["agentType"],
        body["input"]["message"],
        state=body["input"].get("state"),
        request_key=request_key,
        **identity_of(body),
    )
    return await _entered(request, asked, "started")


@post(
    "/{session_id:str}/resume",
    status_code=OK,
    responses=answers(EntryAnswer, errors=WRITE_ERRORS),
    operation_class=takes(RESUME_BODY, *REQUEST_KEY),
)
async def resume(request: AnyRequest) -> ASGIResponse:
    """Go on with a session that was interrupted, or is paused with nothing awaited."""
    session_id, request_key = session_id_of(request), request_key_of(request)
    body = await read_resume(request, front_of(request))
    options = parse_resume_options(body["options"])
    asked = Resume(session_id, body["agentType"], options, request_key=request_key)
    return await _entered(request, asked, "resumed")


@post(
    "/{session_id:str}/retry",
    status_code=OK,
    responses=answers(EntryAnswer, errors=WRITE_ERRORS),
    operation_class=takes(RETRY_BODY, *REQUEST_KEY),
)
async def retry(request: AnyRequest) -> ASGIResponse:
    """Go on with a failed session, from its last committed step or from a checkpoint."""
    session_id, request_key = session_id_of(request), request_key_of(request)
    body = await read_retry(request, front_of(request))
    asked = Retry(
        session_id,
        body["agentType"],
        body.get("checkpointId"),
        body.get("message"),
        request_key=request_key,
    )
    return await _entered(request, asked, "resumed")


async def _entered(request: AnyRequest, asked: EntryRequest, done: str) -> ASGIResponse:
    """Send an entry on, and answer with the run that it has started or found."""
    front = front_of(request)
    handle = await front.under_way.finish(
        front.sender.send(
            asked, actor=actor_of(request), origin=Origin(request=request, route="native")
        )
    )
    return JsonAnswer(entry_body(handle, done))


@get("/{session_id:str}/status", responses=answers(StatusAnswer))
async def status(request: AnyRequest) -> ASGIResponse:
    """Tell where a session stands."""
    session_id, runtime = session_id_of(request), front_of(request).runtime
    answer = await runtime.status(session_id, actor=actor_of(request))
    if answer is None:
        raise not_found()
    return JsonAnswer(status_body(answer))


@get("/{session_id:str}/snapshot", responses=answers(SnapshotAnswer))
async def snapshot(request: AnyRequest) -> ASGIResponse:
    """Show a session's committed history and the cursor from which its stream goes on."""
    session_id, runtime = session_id_of(request), front_of(request).runtime
    try:
        answer = await runtime.snapshot(session_id, actor=actor_of(request))
        body = None if answer is None else snapshot_body(answer)
    except Exception as error:  # noqa: BLE001 - every failure of this read has one answer.
        return failed_read(error)
    if body is None:
        raise not_found()
    return JsonAnswer(body)


@get(
    "/{session_id:str}/sse",
    responses={**EVENTS, **READ_ERRORS},
    operation_class=takes(None, *CURSOR),
)
async def events(request: AnyRequest) -> sse.StreamResponse:
    """Follow a session's stream from a cursor, live, as server-sent events."""
    session_id, front, cursor = session_id_of(request), front_of(request), cursor_of(request)
    stream = front.runtime.follow(
        session_id, after=cursor.after, epoch=cursor.epoch, actor=actor_of(request)
    )
    return await sse.stream_response(sse.frames(stream), front.drain)


def native_routes() -> Router:
    """Return the routes, each behind `authenticate`."""
    return Router(
        "/sessions",
        route_handlers=[create_session, start, resume, retry, status, snapshot, events],
        before_request=admit,
        tags=["sessions"],
    )
