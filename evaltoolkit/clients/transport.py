"""Put one JSON request to an endpoint: time limit, size limit, tries, and nothing silent."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evaltoolkit.clients.background import background_loop, close_with
from evaltoolkit.clients.endpoints import Endpoint, Secret
from evaltoolkit.clients.failures import CallError, excerpt
from evaltoolkit.clients.options import check_option, is_number
from evaltoolkit.clients.retrying import Retries, asked_wait, is_temporary
from evaltoolkit.errors import MissingDependencyError

if TYPE_CHECKING:
    import httpx

_LARGEST_REPLY = 32 * 2**20
_REDIRECTS = range(300, 400)
_FINE = range(200, 300)


@dataclass(frozen=True)
class Answer:
    """The JSON value that came back, how long the last try took, and how many there were."""

    data: Any
    latency_s: float
    attempts: int


async def pause(seconds: float) -> None:
    """Wait between two tries."""
    await asyncio.sleep(seconds)


class _Temporary(Exception):
    """A try that failed in a way that may pass, with how long the server asks to wait."""

    def __init__(self, error: CallError, asked_s: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.asked_s = asked_s


class Transport:
    """Connections to one endpoint, shared by all calls to it.

    Args:
        endpoint: Where calls go; no redirect leads anywhere else.
        secret: Key that is sent as a bearer token, if any.
        timeout_s: Seconds for one try, from the first byte sent to the last one read.
        retries: How often and when a call is tried again.
        largest_reply: Most bytes that are read of a reply.

    Raises:
        MissingDependencyError: The package httpx is not installed.
        ScorerError: The time limit or `retries` cannot be used.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        secret: Secret | None = None,
        timeout_s: float = 60.0,
        retries: Retries | None = None,
        largest_reply: int = _LARGEST_REPLY,
    ) -> None:
        if importlib.util.find_spec("httpx") is None:
            raise MissingDependencyError("httpx", extra="judges", purpose="calling an endpoint")
        fits = is_number(timeout_s) and timeout_s > 0
        check_option("timeout_s", timeout_s, "give seconds above 0", fits=fits)
        fits = retries is None or isinstance(retries, Retries)
        allowed = "give Retries(attempts=...), in which 1 is no second try, or None for the usual"
        check_option("retries", retries, allowed, fits=fits)
        self.endpoint = endpoint
        self._secret = secret
        self._timeout_s = timeout_s
        self._retries = retries or Retries()
        self._largest = largest_reply
        self._open: tuple[asyncio.AbstractEventLoop, httpx.AsyncClient] | None = None

    def __repr__(self) -> str:
        """Show where calls go and whether a key goes with them."""
        key = "" if self._secret is None else ", with a key"
        return f"Transport({self.endpoint.base_url!r}{key})"

    async def post(self, path: str, payload: Mapping[str, Any], *, call: str) -> Answer:
        """Make one call; must run on the loop of `background_loop`.

        Args:
            path: The call, such as ``chat/completions``.
            payload: The request, as a JSON value.
            call: Name of the call, from which the random part of its waits follows.

        Raises:
            CallError: No try gave a JSON value.
        """
        # Escaped, so that half a surrogate pair in an answer is no error of this side.
        body = json.dumps(payload).encode("ascii")
        waits = self._retries.waits(call)
        attempt = 1
        while True:
            started = time.perf_counter()
            try:
                data = await self._try(path, body)
                return Answer(data, time.perf_counter() - started, attempt)
            except _Temporary as caught:
                trouble = caught
            except CallError as error:
                error.attempts = attempt
                raise
            # Raised out here, so that no request, which holds the key, hangs on the error.
            wait = next(waits, None)
            if wait is None or (trouble.asked_s or 0) > self._retries.longest_s:
                raise _final(trouble, attempt, self._retries)
            await pause(max(wait, trouble.asked_s or 0))
            attempt += 1

    async def _try(self, path: str, body: bytes) -> object:
        import httpx

        host = self.endpoint.host
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._exchange(path, body)
        except (TimeoutError, httpx.TimeoutException):
            message = f"{host} gave no complete answer within {self._timeout_s:g} s"
            raise _Temporary(CallError(message, code="timeout", path=host)) from None
        except httpx.RequestError as error:
            what = f"{type(error).__name__}: {excerpt(str(error))}"
            message = f"the connection to {host} failed: {what}"
            raise _Temporary(CallError(message, code="connection", path=host)) from None

    async def _exchange(self, path: str, body: bytes) -> object:
        url = self.endpoint.url(path)
        async with self._client().stream(
            "POST", url, content=body, headers=self._headers()
        ) as reply:
            text = await self._text_of(reply)
            if reply.status_code in _FINE:
                return self._parse(text)
            error = self._refused(reply, text)
            if is_temporary(reply.status_code):
                raise _Temporary(error, asked_wait(reply.headers.get("retry-after")))
            raise error

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if self._secret is not None:
            headers["Authorization"] = f"Bearer {self._secret.reveal()}"
        return headers

    async def _text_of(self, reply: httpx.Response) -> str:
        parts: list[bytes] = []
        size = 0
        async for part in reply.aiter_bytes():
            size += len(part)
            if size > self._largest:
                message = f"{self.endpoint.host} sent more than {self._largest} bytes"
                raise CallError(message, code="too_large", path=self.endpoint.host)
            parts.append(part)
        text = b"".join(parts).decode("utf-8", errors="replace")
        # Servers repeat keys in their messages, and what came back goes to errors and the cache.
        return text if self._secret is None else self._secret.redact(text)

    def _parse(self, text: str) -> object:
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            shown = excerpt(text)
            message = f"{self.endpoint.host} answered with something that is not JSON: {shown!r}"
            raise CallError(
                message, code="bad_reply", path=self.endpoint.host, reply=shown
            ) from error

    def _refused(self, reply: httpx.Response, text: str) -> CallError:
        host, status = self.endpoint.host, reply.status_code
        shown = excerpt(text)
        if status in _REDIRECTS:
            message = (
                f"{host} answered with HTTP {status}, which leads elsewhere and is not followed; "
                "give the address that it leads to as the base address"
            )
            return CallError(message, code="redirected", path=host, status=status)
        message = f"{host} answered with HTTP {status}: {shown or 'no text'}"
        return CallError(message, code="http_status", path=host, status=status, reply=shown)

    def _client(self) -> httpx.AsyncClient:
        """Give the pool of connections; it belongs to the loop that it was opened on."""
        import httpx

        loop = background_loop()
        if self._open is None or self._open[0] is not loop:
            # No proxy of the environment may see what is meant for this machine.
            client = httpx.AsyncClient(
                timeout=None,
                trust_env=not self.endpoint.is_local,
                follow_redirects=False,
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=32),
            )
            self._open = (loop, client)
            close_with(self, client, loop)
        return self._open[1]


def _final(trouble: _Temporary, attempts: int, retries: Retries) -> CallError:
    """Say how often a call was tried, and why not again."""
    error = trouble.error
    asked = trouble.asked_s or 0
    if asked > retries.longest_s:
        why = f"; it asks to wait {asked:g} s, longer than the {retries.longest_s:g} s allowed"
    else:
        why = f"; tried {attempts} time(s)"
    return CallError(
        f"{error}{why}",
        code=error.code,
        path=error.path,
        status=error.status,
        reply=error.reply,
        attempts=attempts,
    )
