"""A host of remote children that answers whatever a test says, over real HTTP on loopback."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

STARTED = {"sessionId": "far", "streamId": "far", "runId": "run-far"}
BUSY = {"error": "A run executes", "code": "ALREADY_RUNNING"}


@dataclass(frozen=True)
class Answer:
    """What the peer says: a status and a body; `hangs_s` before it, and `cut` in its middle."""

    status: int = 200
    body: Any = field(default_factory=lambda: dict(STARTED))
    hangs_s: float = 0.0
    cut: bool = False

    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass(frozen=True)
class Asked:
    """A request as the peer heard it."""

    verb: str
    path: str
    body: Any
    headers: dict[str, str]


class Peer:
    """The peer: the last of a verb's answers is given for ever, the others once."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self._answers: dict[str, list[Answer]] = {}
        self.url = ""

    def says(self, verb: str, *answers: Answer) -> None:
        self._answers[verb] = [*answers]

    def status(self, *statuses: Any) -> None:
        """Answer status requests: a status alone, or a whole body; one 404 for None."""
        lost = Answer(404, {"error": "No such session", "code": "NOT_FOUND"})
        self.says(
            "status",
            *(
                lost
                if each is None
                else Answer(body={"status": each} if isinstance(each, str) else each)
                for each in statuses
            ),
        )

    def heard(self, verb: str) -> list[Asked]:
        return [each for each in self.asked if each.verb == verb]

    def answer(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        answers = self._answers.get(asked.verb, [Answer()])
        return answers.pop(0) if len(answers) > 1 else answers[0]


@contextmanager
def peer_on_loopback() -> Iterator[Peer]:
    """Lend a peer that listens."""
    peer = Peer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def _serve(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            sent = self.rfile.read(length)
            verb = self.path.rpartition("/")[2]
            body = json.loads(sent) if sent else None
            answer = peer.answer(Asked(verb, self.path, body, dict(self.headers)))
            time.sleep(answer.hangs_s)
            content = answer.content()
            self.send_response(answer.status)
            self.send_header("content-length", str(len(content) + 10 * answer.cut))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    peer.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield peer
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
