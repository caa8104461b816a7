"""A named endpoint with its key, its limits and its cache: what all clients have in common."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypedDict, Unpack

from evaltoolkit.clients.background import run_beside, run_blocking
from evaltoolkit.clients.cache import CallCache, as_cache, call_key
from evaltoolkit.clients.endpoints import check_endpoint, find_key
from evaltoolkit.clients.options import check_keywords
from evaltoolkit.clients.retrying import Retries
from evaltoolkit.clients.transport import Answer, Transport


class ConnectionOptions(TypedDict, total=False):
    """Keywords that every client takes.

    ``api_key`` is the key itself or ``api_key_env`` the name of the environment variable that
    holds it: give one, or none where the server asks for none. ``timeout_s`` limits one try from
    its start to the last byte, ``retries`` says how often and when it is repeated: by default a
    call has ended after 9 minutes at most. ``cache`` is a `CallCache` or the path of
    one; None calls every time.
    """

    api_key: str | None
    api_key_env: str | None
    timeout_s: float
    retries: Retries | None
    cache: CallCache | str | os.PathLike[str] | None


class Call(NamedTuple):
    """One call: its kind in the cache, its path, the request, and which repetition it is."""

    kind: str
    path: str
    payload: Mapping[str, Any]
    repeat: int = 0


class Fetched(NamedTuple):
    """What is kept of a reply, whether it came from the cache, and what it took to get it."""

    value: dict[str, Any]
    cached: bool
    attempts: int


Shape = Callable[[Answer], dict[str, Any]]
"""Takes out of an answer what is kept; raises where the answer does not have it."""

Accept = Callable[[dict[str, Any]], bool]
"""Says whether what was taken out may go to the cache."""


class Connection:
    """Makes calls to one endpoint and keeps what comes back.

    Args:
        base_url: The endpoint; see `check_endpoint`.
        argument: Name of the argument that it came from.
        **options: See `ConnectionOptions`.

    Raises:
        ScorerError: The endpoint or the key is missing or cannot be used.
        MissingDependencyError: The package httpx is not installed.
    """

    def __init__(
        self, base_url: object, *, argument: str = "base_url", **options: Unpack[ConnectionOptions]
    ) -> None:
        check_keywords(options, ConnectionOptions.__annotations__, purpose="a client")
        self.endpoint = check_endpoint(base_url, argument=argument)
        self.cache = as_cache(options.get("cache"))
        self._transport = Transport(
            self.endpoint,
            secret=find_key(options.get("api_key"), options.get("api_key_env")),
            timeout_s=options.get("timeout_s", 60.0),
            retries=options.get("retries"),
        )

    def __repr__(self) -> str:
        """Show where calls go; never the key."""
        return f"Connection({self.endpoint.base_url!r})"

    def key_of(self, call: Call) -> str:
        """Name a call by everything that decides its answer; the API key is not part of it."""
        parts = {"base_url": self.endpoint.base_url, "repeat": call.repeat, **call._asdict()}
        return call_key(call.kind, parts)

    def fetch(self, call: Call, shape: Shape, *, accept: Accept | None = None) -> Fetched:
        """Give what is kept of a call, or make it.

        Args:
            call: The call.
            shape: Takes out of the answer what is kept.
            accept: Says whether that may be kept; by default always.

        Raises:
            CallError: The call failed, or the answer does not have what is needed.
        """
        return run_blocking(self.fetching(call, shape, accept=accept))

    async def fetch_async(
        self, call: Call, shape: Shape, *, accept: Accept | None = None
    ) -> Fetched:
        """Do the same without blocking the caller's loop."""
        return await run_beside(self.fetching(call, shape, accept=accept))

    async def fetching(self, call: Call, shape: Shape, *, accept: Accept | None = None) -> Fetched:
        """Do the same on the loop of all calls; the file is read and written beside it."""
        key = self.key_of(call)
        found = await self.find(key)
        if found is not None:
            return Fetched(found, cached=True, attempts=0)
        answer = await self._transport.post(call.path, call.payload, call=key)
        value = shape(answer)
        if accept is None or accept(value):
            value = await self.keep(key, call.kind, value)
        return Fetched(value, cached=False, attempts=answer.attempts)

    async def find(self, key: str) -> dict[str, Any] | None:
        """Look a call up in the cache."""
        found = None if self.cache is None else await asyncio.to_thread(self.cache.get, key)
        return found.value if found is not None and isinstance(found.value, dict) else None

    async def keep(self, key: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
        """Put a value into the cache, if there is one, and give the one that is kept."""
        if self.cache is None:
            return value
        kept: dict[str, Any] = await asyncio.to_thread(self.cache.put, key, kind, value)
        return kept
