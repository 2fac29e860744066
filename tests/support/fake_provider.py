"""A strict provider on loopback: it speaks OpenAI's streamed chat completions, and refuses.

It owns what the strictest real providers demand of a history, and plays the answers it was given,
broken ones too; texts also by the newer interface, /responses, whose histories it does not judge.
It knows nothing of Lockgate, so any process can be pointed at its URL.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias

# Long enough for a busy machine; only a test that fails waits so long.
SEEN_WITHIN_S = 20.0

End: TypeAlias = Literal["whole", "unmarked", "dropped", "held"]


@dataclass(frozen=True)
class Answer:
    """A streamed reply, and how it ends.

    deltas   the `delta` of each chunk
    finish   the finish reason
    ends     whole: finish reason, usage, [DONE]; unmarked: the body ends properly, but without
             them; dropped: the connection breaks in the middle; held: nothing more is sent until
             the caller has gone
    """

    deltas: Sequence[dict[str, Any]]
    finish: str = "stop"
    ends: End = "whole"


@dataclass(frozen=True)
class Refusal:
    """An HTTP error; `{key}` in its message becomes the key that the request came with."""

    status: int
    message: str = "no"
    code: str | None = None


def text(*pieces: str, ends: End = "whole") -> Answer:
    """Answer with a text, one chunk a piece."""
    return Answer([{"content": piece} for piece in pieces], ends=ends)


def calls(*given: tuple[str, str, Sequence[str]]) -> Answer:
    """Answer with calls, each an id, a tool, and the pieces of its arguments; all interleaved."""
    deltas = [
        {"index": index, "id": call_id, "type": "function", "function": {"name": tool}}
        for index, (call_id, tool, _) in enumerate(given)
    ]
    for turn in range(max(len(pieces) for _, _, pieces in given)):
        deltas += [
            {"index": index, "function": {"arguments": pieces[turn]}}
            for index, (_, _, pieces) in enumerate(given)
            if turn < len(pieces)
        ]
    return Answer([{"tool_calls": [delta]} for delta in deltas], finish="tool_calls")


class FakeProvider:
    """The provider, serving while it is entered; it answers "ok" once its answers are used up."""

    def __init__(self, *answers: Answer | Refusal, key: str = "a-key-of-no-known-form") -> None:
        self.key = key
        self.answers = deque(answers)
        self.requests: list[dict[str, Any]] = []
        self.caller_has_gone = threading.Event()
        self.is_holding = threading.Event()

    @property
    def url(self) -> str:
        """The base URL that a client is given."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}
        )
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def refused_because(history: Sequence[dict[str, Any]]) -> str | None:
    """Say why a strict provider refuses a history, or nothing."""
    open_ids: list[str] = []
    before = "system"
    for message in history:
        role = message["role"]
        if open_ids and role != "tool":
            return f"tool calls without results: {open_ids}"
        if role == "user" and before == "user":
            return "two user turns in a row"
        if role == "tool":
            if message["tool_call_id"] not in open_ids:
                return f"a result without its call: {message['tool_call_id']}"
            open_ids.remove(message["tool_call_id"])
        elif role == "assistant":
            open_ids = [call["id"] for call in message.get("tool_calls", ())]
            if not open_ids and not message.get("content"):
                return "an assistant turn without content"
            if len(set(open_ids)) < len(open_ids):
                return "two calls of one id"
        elif role not in ("system", "developer", "user"):
            return f"unknown role {role}"
        before = role
    return f"tool calls without results: {open_ids}" if open_ids else None


def completion(answer: Answer) -> bytes:
    """Return the body of a streamed completion."""
    return b"".join(f"data: {event}\n\n".encode() for event in _completions(answer))


class _Server(ThreadingHTTPServer):
    owner: FakeProvider


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = SEEN_WITHIN_S

    @property
    def owner(self) -> FakeProvider:
        assert isinstance(self.server, _Server)
        return self.server.owner

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        key = self.headers.get("authorization", "").removeprefix("Bearer ")
        self.close_connection = True
        if self.path not in ("/v1/chat/completions", "/v1/responses"):
            return self._refuse(Refusal(404, f"no {self.path} here"), key)
        if key != self.owner.key:
            return self._refuse(Refusal(401, "Incorrect API key provided: {key}."), key)
        self.owner.requests.append(body)
        reason = refused_because(body.get("messages", ()))
        if reason is not None:
            return self._refuse(Refusal(400, reason), key)
        answer = self.owner.answers.popleft() if self.owner.answers else text("ok")
        if isinstance(answer, Refusal):
            return self._refuse(answer, key)
        return self._stream(answer)

    def _refuse(self, refusal: Refusal, key: str) -> None:
        message = refusal.message.replace("{key}", key)
        error = {"message": message, "type": "fake", "code": refusal.code}
        body = json.dumps({"error": error}).encode()
        self.send_response(refusal.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, answer: Answer) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.send_header("connection", "close")
        self.end_headers()
        for event in (_responses if self.path == "/v1/responses" else _completions)(answer):
            data = f"data: {event}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()
        if answer.ends == "held":
            self.owner.is_holding.set()
            # Nothing more comes from the caller: an end of file says it has gone.
            if not self.connection.recv(1):
                self.owner.caller_has_gone.set()
        elif answer.ends != "dropped":
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: what was asked is in `requests`."""


def _completions(answer: Answer) -> Iterator[str]:
    for delta in answer.deltas:
        yield _chunk([{"index": 0, "delta": delta, "finish_reason": None}])
    if answer.ends == "whole":
        yield _chunk([{"index": 0, "delta": {}, "finish_reason": answer.finish}])
        usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
        yield _chunk([], usage=usage)
        yield "[DONE]"


def _chunk(choices: list[dict[str, Any]], **more: Any) -> str:
    chunk = {"id": "fake-1", "object": "chat.completion.chunk", "created": 1, "model": "fake"}
    return json.dumps({**chunk, "choices": choices, **more})


def _responses(answer: Answer) -> Iterator[str]:
    response: dict[str, Any] = {"id": "resp-1", "object": "response", "created_at": 1}
    response |= {
        "model": "fake",
        "output": [],
        "tools": [],
        "tool_choice": "auto",
        "parallel_tool_calls": True,
    }
    place = {"item_id": "msg-1", "output_index": 0, "content_index": 0, "logprobs": []}
    item = {"id": "msg-1", "type": "message", "role": "assistant", "status": "in_progress"}
    events: list[tuple[str, dict[str, Any]]] = [
        ("created", {"response": {**response, "status": "in_progress"}}),
        ("output_item.added", {"output_index": 0, "item": {**item, "content": []}}),
    ]
    events += [
        ("output_text.delta", {**place, "delta": delta["content"]}) for delta in answer.deltas
    ]
    if answer.ends == "whole":
        usage = {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18}
        events += [("completed", {"response": {**response, "status": "completed", "usage": usage}})]
    for number, (kind, fields) in enumerate(events):
        yield json.dumps({"type": f"response.{kind}", "sequence_number": number, **fields})
