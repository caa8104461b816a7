"""Ask a language model behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import (
    Any,
    Literal,
    NamedTuple,
    Protocol,
    TypedDict,
    Unpack,
    cast,
    runtime_checkable,
)

from evaltoolkit.clients.connection import Call, Connection, ConnectionOptions, Fetched
from evaltoolkit.clients.failures import CallError, excerpt
from evaltoolkit.clients.options import check_keywords, check_option, is_number
from evaltoolkit.clients.transport import Answer
from evaltoolkit.errors import ScorerError, listed

_PER = 1_000_000
_OWN = frozenset({"model", "messages", "temperature", "seed", "response_format", "stream", "n"})
_LIMITS = ("max_tokens", "max_completion_tokens")


class Message(TypedDict):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


class ChatRequest(NamedTuple):
    """What is asked.

    ``response_format`` is passed on to the server. ``repeat`` numbers repeated calls that are
    alike in everything else, so that a cache does not answer the second with the first.
    """

    messages: Sequence[Message]
    response_format: Mapping[str, Any] | None = None
    repeat: int = 0


@dataclass(frozen=True)
class ChatReply:
    """What a model answered, and what it took.

    Attributes:
        text: The answer.
        finish_reason: Why it ended; ``length`` where it was cut off.
        model: The model that the server says it was.
        tokens_in: Tokens of the request.
        tokens_out: Tokens of the answer.
        cost_usd: Price of the call when it was made; None where prices or tokens are not known.
        latency_s: Seconds of the try that succeeded, when it was made.
        cached: Whether it came from the cache: nothing was sent or paid this time.
        attempts: How often the call was tried, 0 from the cache.
    """

    text: str
    finish_reason: str | None = None
    model: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    latency_s: float | None = None
    cached: bool = False
    attempts: int = 1


AcceptReply = Callable[[ChatReply], bool]
"""Says whether an answer is good enough to be kept in the cache."""


@runtime_checkable
class ChatModel(Protocol):
    """Anything that answers like `ChatClient`, for a judge that is reached in another way."""

    @property
    def model(self) -> str:
        """Name of the model."""
        ...

    def settings(self) -> dict[str, Any]:
        """Give what shapes its answers, as a JSON value: temperature, seed and the like."""
        ...

    def complete(self, request: ChatRequest, *, accept: AcceptReply | None = None) -> ChatReply:
        """Answer; raise a `CallError` where that fails."""
        ...

    async def complete_async(
        self, request: ChatRequest, *, accept: AcceptReply | None = None
    ) -> ChatReply:
        """Do the same without blocking."""
        ...


class ChatOptions(ConnectionOptions, total=False):
    """Keywords of a `ChatClient` besides the endpoint and the model.

    ``temperature`` and ``seed`` are sent as they are, and left out where None; ``max_tokens``
    limits the answer, under the name ``max_tokens_field``; ``usd_per_million_tokens`` is the
    price of tokens in and tokens out; ``extra_body`` holds further fields of the request.
    """

    temperature: float | None
    seed: int | None
    max_tokens: int
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"]
    usd_per_million_tokens: Sequence[float] | None
    extra_body: Mapping[str, Any]


class ChatClient:
    """A model behind an OpenAI-compatible endpoint, called as ``chat/completions``.

    Args:
        base_url: The endpoint: https, or http to this machine. There is no default.
        model: Name of the model, as the server knows it.
        kind: What its calls are called in the cache.
        argument: Name of the argument that the endpoint came from, for messages.
        **options: See `ChatOptions` and `ConnectionOptions`.

    Raises:
        ScorerError: The endpoint, the key or an option is missing or cannot be used.
        MissingDependencyError: The package httpx is not installed.

    Example:
        >>> ChatClient("http://localhost:8080/v1", model="smollm2", seed=7)
        ChatClient('http://localhost:8080/v1', model='smollm2')
        >>> ChatClient("http://judge.example/v1", model="m")
        Traceback (most recent call last):
        evaltoolkit.errors.ScorerError: base_url: http:// would send prompts and answers in clear \
text to 'judge.example'; use https://, or http:// to this machine only (localhost, 127.0.0.1, [::1])
    """

    def __init__(
        self,
        base_url: str | None,
        *,
        model: str,
        kind: str = "chat",
        argument: str = "base_url",
        **options: Unpack[ChatOptions],
    ) -> None:
        if not model or not isinstance(model, str):
            msg = f"model is {model!r}; name the model that the server should use"
            raise ScorerError(msg, code="missing_model", path="model", value=model)
        self._model = model
        self._kind = kind
        check_keywords(options, ChatOptions.__annotations__, purpose="a chat client")
        self._settings = _checked_settings(options)
        self._prices = _checked_prices(options.get("usd_per_million_tokens"))
        named = ConnectionOptions.__annotations__
        connecting = {name: value for name, value in options.items() if name in named}
        self._connection = Connection(
            base_url, argument=argument, **cast("ConnectionOptions", connecting)
        )
        self._base_url = self._connection.endpoint.base_url

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._model

    @property
    def base_url(self) -> str:
        """The endpoint; it holds no secret."""
        return self._base_url

    @property
    def host(self) -> str:
        """The machine that is called."""
        return self._connection.endpoint.host

    def settings(self) -> dict[str, Any]:
        """Give the settings that are sent with every request."""
        return dict(self._settings)

    def __repr__(self) -> str:
        """Show the endpoint and the model; never the key."""
        return f"ChatClient({self._base_url!r}, model={self._model!r})"

    def complete(self, request: ChatRequest, *, accept: AcceptReply | None = None) -> ChatReply:
        """Ask, or give the answer that is in the cache.

        Args:
            request: What is asked.
            accept: Says whether the answer may be kept in the cache; by default every answer that
                was not cut off.

        Returns:
            The `ChatReply`.

        Raises:
            CallError: The call failed, or there is no text in the answer.
        """
        keep = self._keeper(accept)
        return self._reply(self._connection.fetch(self._call(request), self._shape, accept=keep))

    async def complete_async(
        self, request: ChatRequest, *, accept: AcceptReply | None = None
    ) -> ChatReply:
        """Do the same without blocking the caller's loop."""
        call, keep = self._call(request), self._keeper(accept)
        return self._reply(await self._connection.fetch_async(call, self._shape, accept=keep))

    def generate(self, prompt: str) -> str:
        """Answer one prompt with a text; what a mutator or a system needs.

        Raises:
            CallError: The call failed.
        """
        return self.complete(ChatRequest([{"role": "user", "content": prompt}])).text

    def _call(self, request: ChatRequest) -> Call:
        payload: dict[str, Any] = {
            "model": self._model,
            "messages": list(request.messages),
            **self._settings,
        }
        if request.response_format is not None:
            payload["response_format"] = request.response_format
        return Call(self._kind, "chat/completions", payload, request.repeat)

    def _keeper(self, accept: AcceptReply | None) -> Callable[[dict[str, Any]], bool]:
        def keep(value: dict[str, Any]) -> bool:
            reply = self._reply(Fetched(value, cached=False, attempts=1))
            return reply.finish_reason != "length" if accept is None else accept(reply)

        return keep

    def _shape(self, answer: Answer) -> dict[str, Any]:
        """Take out what is kept; whatever a server may leave out may be missing, but the text."""
        data = answer.data if isinstance(answer.data, dict) else {}
        choices = data.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        choice = first if isinstance(first, dict) else {}
        message = choice.get("message")
        text = message.get("content") if isinstance(message, dict) else None
        if not isinstance(text, str):
            raise self._no_text(answer, message)
        usage = data.get("usage")
        counts = usage if isinstance(usage, dict) else {}
        return {
            "text": text,
            "finish_reason": _text(choice.get("finish_reason")),
            "model": _text(data.get("model")),
            "tokens_in": _count(counts.get("prompt_tokens")),
            "tokens_out": _count(counts.get("completion_tokens")),
            "latency_s": answer.latency_s,
        }

    def _no_text(self, answer: Answer, message: object) -> CallError:
        refusal = message.get("refusal") if isinstance(message, dict) else None
        what = f"a refusal: {excerpt(str(refusal))!r}" if refusal else "no text"
        return CallError(
            f"{self.host} answered with {what}",
            code="bad_reply",
            path=self.host,
            reply=excerpt(str(answer.data)),
            attempts=answer.attempts,
        )

    def _reply(self, fetched: Fetched) -> ChatReply:
        value = fetched.value
        return ChatReply(
            text=str(value.get("text", "")),
            finish_reason=value.get("finish_reason"),
            model=value.get("model"),
            tokens_in=value.get("tokens_in"),
            tokens_out=value.get("tokens_out"),
            cost_usd=self._cost(value.get("tokens_in"), value.get("tokens_out")),
            latency_s=value.get("latency_s"),
            cached=fetched.cached,
            attempts=fetched.attempts,
        )

    def _cost(self, tokens_in: int | None, tokens_out: int | None) -> float | None:
        if self._prices is None or tokens_in is None or tokens_out is None:
            return None
        return (tokens_in * self._prices[0] + tokens_out * self._prices[1]) / _PER


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _checked_settings(options: ChatOptions) -> dict[str, Any]:
    """Collect the fields that go into every request."""
    temperature, seed = options.get("temperature", 0.0), options.get("seed", 0)
    allowed = "it must be a number from 0, or None to leave it out"
    fits = temperature is None or is_number(temperature)
    check_option("temperature", temperature, allowed, fits=fits)
    fits = seed is None or is_number(seed, least=-math.inf, whole=True)
    check_option("seed", seed, "it must be a whole number, or None to leave it out", fits=fits)
    limit, field = options.get("max_tokens", 1024), options.get("max_tokens_field", _LIMITS[0])
    if not is_number(limit, least=1, whole=True) or field not in _LIMITS:
        msg = (
            f"max_tokens is {limit!r} under the name {field!r}; give a whole number from 1 under "
            f"one of {_LIMITS}"
        )
        raise ScorerError(msg, code="bad_option", path="max_tokens", value=limit)
    extra = options.get("extra_body", {})
    check_option("extra_body", extra, "give a dict of JSON values", fits=_is_json_object(extra))
    taken = sorted(set(extra) & {*_OWN, *_LIMITS})
    if taken:
        msg = f"extra_body holds {listed(taken)}, which have arguments of their own or are fixed"
        raise ScorerError(msg, code="bad_option", path="extra_body", value=taken)
    # 0 and 0.0 are one temperature, and so must be one key in the cache.
    named = {"temperature": None if temperature is None else float(temperature), "seed": seed}
    sent = {name: value for name, value in named.items() if value is not None}
    return {**sent, field: limit, **extra}


def _checked_prices(prices: Sequence[float] | None) -> Sequence[float] | None:
    if prices is None:
        return None
    allowed = "give the price of tokens in and of tokens out"
    check_option("usd_per_million_tokens", prices, allowed, fits=_is_pair(prices))
    return prices


def _is_pair(value: object) -> bool:
    return isinstance(value, Sequence) and len(value) == 2 and all(map(is_number, value))


def _is_json_object(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True
