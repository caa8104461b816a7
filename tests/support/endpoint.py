"""A server on this machine that answers by a script, well or badly, and remembers what it got."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

MOST_REQUESTS = 2_000


@dataclass(frozen=True)
class Reply:
    """One answer: its status, headers and body, and how it misbehaves.

    `delay_s` is waited before anything is sent, `drip_s` after each byte of the body, and `cut`
    is the number of bytes that are announced but never sent.
    """

    body: bytes = b"{}"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    drip_s: float = 0.0
    cut: int = 0


@dataclass(frozen=True)
class Request:
    """What a client sent."""

    path: str
    headers: Mapping[str, str]
    body: Any


Script = Sequence[Reply] | Callable[[Request], Reply]


class ScriptedEndpoint:
    """Answers request by request from a list, the last one for ever, or by a function."""

    def __init__(self, script: Script) -> None:
        self.requests: list[Request] = []
        self._script = script
        self._lock = threading.Lock()
        self._closing = threading.Event()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 10
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                endpoint.serve(self)

            def do_GET(self) -> None:
                endpoint.serve(self)

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda request, client_address: None  # type: ignore[method-assign]
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )

    @property
    def url(self) -> str:
        """Base address of the service."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> ScriptedEndpoint:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def serve(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        raw = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        request = Request(handler.path, dict(handler.headers.items()), json.loads(raw or b"null"))
        with self._lock:
            number = len(self.requests)
            self.requests.append(request)
        if number >= MOST_REQUESTS:
            handler.close_connection = True
            return
        reply = self._next(number, request)
        if self._closing.wait(reply.delay_s) and reply.delay_s:
            handler.close_connection = True
            return
        self._send(handler, reply)

    def _next(self, number: int, request: Request) -> Reply:
        if callable(self._script):
            return self._script(request)
        return self._script[min(number, len(self._script) - 1)]

    def _send(self, handler: BaseHTTPRequestHandler, reply: Reply) -> None:
        handler.send_response(reply.status)
        for name, value in reply.headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(reply.body) + reply.cut))
        handler.end_headers()
        step = 1 if reply.drip_s else max(len(reply.body), 1)
        for start in range(0, len(reply.body), step):
            handler.wfile.write(reply.body[start : start + step])
            handler.wfile.flush()
            if self._closing.wait(reply.drip_s) and reply.drip_s:
                break
        if reply.cut:
            handler.close_connection = True


def json_reply(value: object, **behaviour: Any) -> Reply:
    """Answer with a JSON value."""
    return Reply(json.dumps(value).encode(), **behaviour)


def chat_reply(
    text: str | None, *, finish_reason: str = "stop", tokens: tuple[int, int] = (100, 20)
) -> Reply:
    """Answer like a chat completion."""
    return json_reply(
        {
            "model": "scripted-1",
            "choices": [
                {"finish_reason": finish_reason, "message": {"role": "assistant", "content": text}}
            ],
            "usage": {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]},
        }
    )
