"""A judge on this machine in the words of OpenAI's service, on top of `ScriptedEndpoint`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from support import endpoint


@dataclass(frozen=True)
class Request:
    """One call as it arrived; names of headers in lower case."""

    path: str
    headers: dict[str, str]
    body: Any

    @property
    def prompt(self) -> str:
        """The text of all messages."""
        return "\n".join(str(message["content"]) for message in self.body.get("messages", []))


Answer = Callable[[Request], "tuple[int, dict[str, Any]] | dict[str, Any]"]


@dataclass
class Stub:
    """The judge: its address, what it answers, what it was asked."""

    answer: Answer
    base_url: str = ""
    requests: list[Request] = field(default_factory=list)

    def reply(self, asked: endpoint.Request) -> endpoint.Reply:
        headers = {name.lower(): value for name, value in asked.headers.items()}
        request = Request(asked.path, headers, asked.body)
        self.requests.append(request)
        given = self.answer(request)
        status, body = given if isinstance(given, tuple) else (200, given)
        sent = {"Content-Type": "application/json", **body.get("headers", {})}
        return endpoint.json_reply(body, status=status, headers=sent)


@contextmanager
def running_stub(answer: Answer) -> Iterator[Stub]:
    """Serve until the block ends; `answer` gives a body, or a status and a body.

    A body's entry ``headers`` is sent as headers, too.
    """
    stub = Stub(answer)
    with endpoint.ScriptedEndpoint(stub.reply) as server:
        stub.base_url = server.url
        yield stub


def says(content: str) -> dict[str, Any]:
    """A chat completion with a text."""
    return _completion({"role": "assistant", "content": content})


def calls(arguments: dict[str, Any] | str, *, name: str = "select_choice") -> dict[str, Any]:
    """A chat completion with one tool call."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    function = {"name": name, "arguments": text}
    call = {"id": "c1", "type": "function", "function": function}
    return _completion({"role": "assistant", "content": None, "tool_calls": [call]})


def embeds(*vectors: list[float]) -> dict[str, Any]:
    """An answer of an embedding model."""
    data = [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(vectors)]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return {"object": "list", "data": data, "model": "vectors", "usage": usage}


def _completion(message: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "judge",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    }
