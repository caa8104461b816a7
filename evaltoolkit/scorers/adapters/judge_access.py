"""The way to the judge of another package: one named endpoint, and nothing else.

The packages fall back on hosted gateways, on keys in the environment and on tracing services when
nobody says otherwise. The client that is made here talks to one endpoint only: it sends no header
that it was not given, follows no redirect and gives up after a few tries.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from evaltoolkit.clients.endpoints import Endpoint, Secret, check_endpoint, find_key
from evaltoolkit.errors import ScorerError
from evaltoolkit.scorers.base import Naming, check_options, check_whole, need_package, shorten

if TYPE_CHECKING:
    from openai import OpenAI

NO_KEY = "no-key"
"""Stands for an absent key inside the client; it is never sent."""

_SENT_HEADERS = frozenset(
    {
        "accept",
        "accept-encoding",
        "connection",
        "content-length",
        "content-type",
        "host",
        "transfer-encoding",
        "user-agent",
    }
)
"""Headers that may leave; the client adds others of its own and from the environment."""


class JudgeOptions(Naming, total=False):
    """Keywords of every scorer that asks a judge, beside those of `Naming`.

    ``judge_base_url`` is the address of an OpenAI-compatible endpoint: https, or http to this
    machine. It is never guessed. ``model`` names the judge, ``embedding_model`` the model of
    texts' vectors where they are needed. ``api_key`` is sent as bearer token, ``api_key_env``
    names an environment variable that holds it instead; keys of other services that lie in the
    environment are not sent. ``timeout`` in seconds, ``max_retries`` after a refused or broken
    call.
    """

    judge_base_url: str | None
    model: str | None
    embedding_model: str | None
    api_key: str | None
    api_key_env: str | None
    timeout: float
    max_retries: int


class JudgeAccess(NamedTuple):
    """Where a judge is and how it is asked; its key stays out of every text."""

    endpoint: Endpoint
    model: str | None = None
    embedding_model: str | None = None
    key: Secret | None = None
    timeout: float = 60.0
    max_retries: int = 2

    def client(self) -> OpenAI:
        """Give the client; one and the same for one and the same access."""
        key = self.key.reveal() if self.key else None
        return _client(self.endpoint, key, self.timeout, self.max_retries)

    def hide_key(self, text: str) -> str:
        """Take the key out of a text."""
        return self.key.redact(text) if self.key else text

    def shown(self) -> dict[str, str | None]:
        """Say who judges, for the details of a score."""
        return {"host": self.endpoint.host, "model": self.model or self.embedding_model}


def open_access(purpose: str, options: JudgeOptions, *, extra: str) -> JudgeAccess:
    """Check the options that say where the judge is.

    Args:
        purpose: Name of the scorer, for messages.
        options: Keywords that the scorer was given.
        extra: The extra of this library that the scorer needs.

    Raises:
        ScorerError: The endpoint is missing or not safe, the key's variable is not set, or an
            option has a value that it cannot have.
        MissingDependencyError: The package openai is not installed.
    """
    endpoint = check_endpoint(options.get("judge_base_url"), argument="judge_base_url")
    _check_values(options)
    key = find_key(options.get("api_key"), options.get("api_key_env"))
    need_package("openai", purpose=purpose, extra=extra)
    return JudgeAccess(
        endpoint=endpoint,
        model=options.get("model"),
        embedding_model=options.get("embedding_model"),
        key=key,
        timeout=options.get("timeout", 60.0),
        max_retries=options.get("max_retries", 2),
    )


def need_model(value: str | None, *, purpose: str, keyword: str = "model") -> None:
    """Refuse a judge without a model: the packages would pick one of their own.

    Raises:
        ScorerError: There is none.
    """
    if not value:
        msg = f"{purpose} needs {keyword}=, the name that the endpoint gives the model"
        raise ScorerError(msg, code="missing_model", path=keyword, value=value)


def naming_of(options: JudgeOptions, *, kind: type) -> Naming:
    """Pick the keywords of `Naming` out of the options that a class was given.

    Raises:
        ScorerError: An option is unknown.
    """
    check_options(kind, options, JudgeOptions.__annotations__)
    naming: Any = {key: options[key] for key in Naming.__annotations__ if key in options}  # type: ignore[literal-required]
    return naming  # type: ignore[no-any-return]


def _check_values(options: JudgeOptions) -> None:
    for keyword in ("model", "embedding_model"):
        name: object = options.get(keyword)
        if name is not None and not isinstance(name, str):
            msg = f"{keyword} is {shorten(name)}; it must be the name of a model"
            raise ScorerError(msg, code="bad_option", path=keyword, value=name)
    check_whole("max_retries", options.get("max_retries", 2), or_none=False)
    timeout: object = options.get("timeout", 60.0)
    if not isinstance(timeout, int | float) or not 0 < timeout < math.inf:
        msg = f"timeout is {shorten(timeout)}; it must be a number of seconds above 0"
        raise ScorerError(msg, code="bad_option", path="timeout", value=timeout)


# The number of endpoints is small, and autoevals keeps vectors by the identity of their client:
# a client that lives as long as the process never hands its identity to another endpoint.
@cache
def _client(endpoint: Endpoint, key: str | None, timeout: float, max_retries: int) -> OpenAI:
    import openai

    def only_there(request: Any) -> None:  # noqa: ANN401 - of httpx or its successor
        if request.url.netloc != client.base_url.netloc:
            msg = f"a request to {request.url.host!r} was stopped; the judge is {endpoint.host!r}"
            raise ScorerError(msg, code="wrong_host", path="judge_base_url")
        for header in set(request.headers) - _SENT_HEADERS:
            del request.headers[header]
        if key is not None:
            request.headers["authorization"] = f"Bearer {key}"

    http = openai.DefaultHttpxClient(
        follow_redirects=False,
        # A proxy would see clear text, so on this machine the environment's proxies are passed by.
        trust_env=not endpoint.is_local,
        timeout=timeout,
        event_hooks={"request": [only_there]},
    )
    client = openai.OpenAI(
        base_url=endpoint.base_url,
        api_key=key or NO_KEY,
        timeout=timeout,
        max_retries=max_retries,
        http_client=http,
    )
    return client
