"""Turn texts into vectors behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, TypeVar, Unpack

from evaltoolkit.clients.background import run_beside, run_blocking
from evaltoolkit.clients.connection import Call, Connection, ConnectionOptions
from evaltoolkit.clients.failures import CallError, excerpt
from evaltoolkit.clients.options import check_option, is_number
from evaltoolkit.clients.transport import Answer
from evaltoolkit.errors import ScorerError

T = TypeVar("T")
_KIND = "embedding"
_AT_ONCE = 16

Vector = list[float]
Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Gives one vector for each text, in the same order."""


class EmbeddingClient:
    """A model of embeddings behind an OpenAI-compatible endpoint, called as ``embeddings``.

    Each text is kept in the cache on its own, so that it is sent once whatever it stands beside.
    A client can be called like a function of texts.

    Args:
        base_url: The endpoint: https, or http to this machine. There is no default.
        model: Name of the model, as the server knows it.
        dimensions: Length of the vectors that is asked for; None leaves it to the model.
        batch_size: How many texts go into one request.
        **options: See `ConnectionOptions`.

    Raises:
        ScorerError: The endpoint, the key or an option is missing or cannot be used.
        MissingDependencyError: The package httpx is not installed.

    Example:
        >>> EmbeddingClient("https://embeddings.example/v1", model="small")
        EmbeddingClient('https://embeddings.example/v1', model='small')
    """

    def __init__(
        self,
        base_url: str | None,
        *,
        model: str,
        dimensions: int | None = None,
        batch_size: int = 64,
        **options: Unpack[ConnectionOptions],
    ) -> None:
        if not model or not isinstance(model, str):
            msg = f"model is {model!r}; name the model that the server should use"
            raise ScorerError(msg, code="missing_model", path="model", value=model)
        for name, size in (("batch_size", batch_size), ("dimensions", dimensions)):
            if size is not None or name == "batch_size":
                fits = is_number(size, least=1, whole=True)
                check_option(name, size, "give a whole number from 1", fits=fits)
        self._model = model
        self._dimensions = dimensions
        self._batch_size = batch_size
        self._connection = Connection(base_url, **options)
        self._base_url = self._connection.endpoint.base_url

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._model

    @property
    def host(self) -> str:
        """The machine that is called."""
        return self._connection.endpoint.host

    def __repr__(self) -> str:
        """Show the endpoint and the model; never the key."""
        return f"EmbeddingClient({self._base_url!r}, model={self._model!r})"

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Give one vector for each text, in the same order.

        Args:
            texts: Texts; those that repeat are sent once.

        Returns:
            Vectors of equal length.

        Raises:
            CallError: A call failed, or what came back is not one finite vector for each text.
        """
        return run_blocking(self._embedding(_checked_texts(texts)))

    async def embed_async(self, texts: Sequence[str]) -> list[Vector]:
        """Do the same without blocking the caller's loop."""
        return await run_beside(self._embedding(_checked_texts(texts)))

    def __call__(self, texts: Sequence[str]) -> list[Vector]:
        """Do what `embed` does."""
        return self.embed(texts)

    async def _embedding(self, texts: Sequence[str]) -> list[Vector]:
        known = {text: vector async for text, vector in self._kept(texts)}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        for asked in _slices(_slices(missing, self._batch_size), _AT_ONCE):
            answers = await asyncio.gather(*map(self._fetched, asked), return_exceptions=True)
            for answer in answers:
                # Raised when all have come and are kept, for they are paid.
                if isinstance(answer, BaseException):
                    raise answer
                known |= answer
        return self._aligned(texts, known)

    async def _fetched(self, batch: Sequence[str]) -> dict[str, Vector]:
        """Get the vectors of some texts, and keep each on its own."""
        connection, call = self._connection, self._call(batch)
        fetched = await connection.fetching(call, self._shape(batch), accept=_never)
        vectors = zip(batch, fetched.value["vectors"], strict=True)
        return {text: await self._keep(text, vector) for text, vector in vectors}

    async def _keep(self, text: str, vector: Vector) -> Vector:
        kept = await self._connection.keep(self._key(text), _KIND, {"vector": vector})
        return kept["vector"]  # type: ignore[no-any-return]

    def _call(self, texts: Sequence[str]) -> Call:
        payload: dict[str, Any] = {
            "model": self._model,
            "input": list(texts),
            "encoding_format": "float",
        }
        if self._dimensions is not None:
            payload["dimensions"] = self._dimensions
        return Call(_KIND, "embeddings", payload)

    def _key(self, text: str) -> str:
        return self._connection.key_of(self._call([text]))

    async def _kept(self, texts: Sequence[str]) -> AsyncIterator[tuple[str, Vector]]:
        if self._connection.cache is None:
            return
        for text in dict.fromkeys(texts):
            found = await self._connection.find(self._key(text))
            if found is not None:
                yield text, found["vector"]

    def _shape(self, batch: Sequence[str]) -> Callable[[Answer], dict[str, Any]]:
        def shape(answer: Answer) -> dict[str, Any]:
            vectors = _vectors(answer.data, len(batch))
            if vectors is None:
                raise self._unusable(answer)
            return {"vectors": vectors}

        return shape

    def _unusable(self, answer: Answer) -> CallError:
        return CallError(
            f"{self.host} did not answer with one finite vector for each text",
            code="bad_reply",
            path=self.host,
            reply=excerpt(str(answer.data)),
            attempts=answer.attempts,
        )

    def _aligned(self, texts: Sequence[str], known: dict[str, Vector]) -> list[Vector]:
        vectors = [known[text] for text in texts]
        lengths = {len(vector) for vector in vectors}
        if len(lengths) > 1:
            message = f"{self.host} gave vectors of different lengths: {sorted(lengths)}"
            raise CallError(message, code="bad_reply", path=self.host)
        return vectors


def _checked_texts(texts: Sequence[str]) -> list[str]:
    """Refuse one text in the place of several, whose letters would be sent one by one."""
    several = None if isinstance(texts, str | bytes) else list(texts)
    if several is None or not all(isinstance(text, str) for text in several):
        check_option("texts", texts, "give a list of texts", fits=False)
    return several or []


def _slices(items: Sequence[T], size: int) -> list[Sequence[T]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def _never(value: dict[str, Any]) -> bool:
    """Keep no batch: each of its texts is kept on its own."""
    return False


def _vectors(data: object, count: int) -> list[Vector] | None:
    """Read the vectors in the order of the texts; None where any is missing or unusable."""
    items = data.get("data") if isinstance(data, dict) else None
    if not isinstance(items, list) or len(items) != count:
        return None
    placed: dict[int, Vector] = {}
    for place, item in enumerate(items):
        vector = _vector(item)
        index = item.get("index", place) if isinstance(item, dict) else place
        if vector is None or not isinstance(index, int):
            return None
        placed[index] = vector
    return [placed[i] for i in range(count)] if set(placed) == set(range(count)) else None


def _vector(item: object) -> Vector | None:
    numbers = item.get("embedding") if isinstance(item, dict) else None
    if not isinstance(numbers, list) or not numbers:
        return None
    if not all(isinstance(x, int | float) and not isinstance(x, bool) for x in numbers):
        return None
    try:
        vector = [float(x) for x in numbers]
    except OverflowError:
        return None
    return vector if all(map(math.isfinite, vector)) else None
