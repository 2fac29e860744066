"""The native routes: POST /sessions, and what lies under /sessions/{session_id}/.

A route reads what was sent, calls one verb of the runtime, and answers. It decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
from lockgate_api.bodies import (
    entry_body,
    session_body,
    snapshot_body,
    status_body,
    stop_body,
    submit_body,
)
from lockgate_api.documents import (
    CURSOR,
    EVENTS,
    REQUEST_KEY,
    SUBMIT_ERRORS,
    WAIT,
    EntryAnswer,
    SessionAnswer,
    SnapshotAnswer,
    StatusAnswer,
    StopAnswer,
    SubmitAnswer,
    UsageAnswer,
    answers,
    takes,
)
from lockgate_api.front import AnyRequest, front_of
from lockgate_api.shapes import (
    RESUME_BODY,
    RETRY_BODY,
    SESSION_BODY,
    START_BODY,
    STOP_BODY,
    SUBMIT_BODY,
)
from lockgate_api.wire import (
    cursor_of,
    identity_of,
    read_resume,
    read_retry,
    read_session,
    read_start,
    read_stop,
    read_submit,
    request_key_of,
    session_id_of,
    waits,
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


@post(
    "/{session_id:str}/submit-tool-result",
    status_code=OK,
    responses=answers(SubmitAnswer, errors=SUBMIT_ERRORS),
    operation_class=takes(SUBMIT_BODY),
)
async def submit_tool_result(request: AnyRequest) -> ASGIResponse:
    """Answer a call that waits for it. The first answer counts; the last one of a batch goes on."""
    session_id, front = session_id_of(request), front_of(request)
    tool_call_id, answer = await read_submit(request, front, session_id)
    submitted = await front.under_way.finish(
        front.executor.submit_tool_result(session_id, tool_call_id, answer, actor=actor_of(request))
    )
    return JsonAnswer(submit_body(submitted))


@post(
    "/{session_id:str}/interrupt",
    status_code=OK,
    responses=answers(StopAnswer, errors=WRITE_ERRORS),
    operation_class=takes(STOP_BODY, WAIT),
)
async def interrupt(request: AnyRequest) -> ASGIResponse:
    """Ask a run to end interrupted at its next boundary, to be resumed later."""
    return await _stopped(request, front_of(request).executor.interrupt)


@post(
    "/{session_id:str}/abort",
    status_code=OK,
    responses=answers(StopAnswer, errors=WRITE_ERRORS),
    operation_class=takes(STOP_BODY, WAIT),
)
async def abort(request: AnyRequest) -> ASGIResponse:
    """Ask a run to end failed, cancelled, at its next boundary."""
    return await _stopped(request, front_of(request).executor.abort)


async def _stopped(request: AnyRequest, verb: Callable[..., Any]) -> ASGIResponse:
    """Stop what was named; the stop stands, also where the client does not wait for the end."""
    session_id, front, actor = session_id_of(request), front_of(request), actor_of(request)
    has_to_wait = waits(request)
    run_id, reason = await read_stop(request, front)
    stop = await front.under_way.finish(verb(session_id, run_id=run_id, reason=reason, actor=actor))
    if has_to_wait:
        stop = await front.runtime.ended(stop, actor)
    return JsonAnswer(stop_body(stop))


@get("/{session_id:str}/usage", responses=answers(UsageAnswer))
async def usage(request: AnyRequest) -> ASGIResponse:
    """Sum up what a session's runs have used."""
    session_id, runtime = session_id_of(request), front_of(request).runtime
    rollup = await runtime.usage(session_id, actor=actor_of(request))
    if rollup is None:
        raise not_found()
    return JsonAnswer({"sessionId": session_id, "rollup": rollup})


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
        route_handlers=[
            create_session,
            start,
            resume,
            retry,
            submit_tool_result,
            interrupt,
            abort,
            status,
            snapshot,
            usage,
            events,
        ],
        before_request=admit,
        tags=["sessions"],
    )
