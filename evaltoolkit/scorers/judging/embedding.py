"""`EmbeddingSimilarity`: how near the answer is to the reference in the space of a model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from evaltoolkit.clients import ConnectionOptions, EmbeddingClient
from evaltoolkit.clients.embeddings import Embed
from evaltoolkit.clients.options import check_keywords, check_option, is_number
from evaltoolkit.errors import ScorerError, listed
from evaltoolkit.scorers.base import (
    ComparingScorer,
    Naming,
    Unmeasurable,
    Verdict,
    as_text,
    shorten,
)


class EmbeddingOptions(ConnectionOptions, Naming, total=False):
    """Keywords of `EmbeddingSimilarity`: those of every client, and those of every scorer."""


class EmbeddingSimilarity(ComparingScorer):
    """Likeness of meaning: the cosine of two embeddings, rescaled from `expected_min` to 1.

    Score max((cosine - expected_min) / (1 - expected_min), 0). The formula and values are those of
    autoevals 0.4.1. There `threshold` was also `expected_min`, so that a pass mark of 0.8 asked
    for a cosine of 0.96; here they are two things. Vectors without a direction, and those that
    hold NaN, are no zero: they are not scored or an error. What is a high cosine differs between
    models: look at both ends of the scale before you set a threshold.

    Args:
        embed: Anything that gives one vector for each text, such as an `EmbeddingClient`; or
            leave it out and name ``base_url`` and ``model``.
        base_url: An OpenAI-compatible endpoint; there is no default.
        model: Name of the model there.
        expected_min: Cosine that counts as no likeness at all, from -1 to below 1.
        prefix: Text put before both, for models that want to be told the task.
        **options: Key, limits and cache of the endpoint, see `ConnectionOptions`; and `Naming`.
            The threshold is that of the rescaled score, 0.8 by default.

    Raises:
        ScorerError: No model is named, it is named twice, or `expected_min` is out of range.
        MissingDependencyError: An endpoint is named and the package httpx is not installed.

    Example:
        >>> from evaltoolkit.models import Example, Output
        >>> vectors = {"yes": [1.0, 0.0], "certainly": [0.9, 0.19 ** 0.5]}
        >>> scorer = EmbeddingSimilarity(lambda texts: [vectors[text] for text in texts])
        >>> round(scorer.score(Output(text="certainly"), Example(id=1, reference="yes")).score, 6)
        0.666667
    """

    default_threshold: ClassVar[float | None] = 0.8

    def __init__(
        self,
        embed: Embed | None = None,
        *,
        base_url: str | None = None,
        model: str | None = None,
        expected_min: float = 0.7,
        prefix: str = "",
        **options: Unpack[EmbeddingOptions],
    ) -> None:
        named = ConnectionOptions.__annotations__
        connection = {name: value for name, value in options.items() if name in named}
        naming = {name: value for name, value in options.items() if name not in named}
        check_keywords(options, EmbeddingOptions.__annotations__, purpose=type(self).__name__)
        super().__init__(**cast("Naming", naming))
        fits = is_number(expected_min, least=-1) and expected_min < 1
        check_option("expected_min", expected_min, "it must lie from -1 to below 1", fits=fits)
        check_option("prefix", prefix, "give a text", fits=isinstance(prefix, str))
        self._embed = _embedder(embed, base_url, model, cast("ConnectionOptions", connection))
        self._expected_min = expected_min
        self._prefix = prefix

    def compare(self, actual: object, expected: object, /) -> Verdict:
        """Give the rescaled cosine of the two, as text."""
        texts = [as_text(value) for value in (actual, expected)]
        for role, text in zip(("answer", "reference"), texts, strict=True):
            if not text.strip():
                msg = f"the {role} is empty; an empty text has no embedding"
                raise Unmeasurable(msg)
        vectors = _checked(self._embed([self._prefix + text for text in texts]), len(texts))
        cosine = cosine_of(*vectors)
        score = min(max((cosine - self._expected_min) / (1 - self._expected_min), 0.0), 1.0)
        model = getattr(self._embed, "model", None)
        details = {
            "cosine": cosine,
            "expected_min": self._expected_min,
            "model": model if isinstance(model, str) else None,
        }
        return Verdict(score, f"cosine {cosine:.4f}", details)


def cosine_of(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Give the cosine of the angle between two vectors, from -1 to 1.

    Raises:
        Unmeasurable: One of them is zero, so that there is no angle.

    Example:
        >>> cosine_of(np.array([1e300, 0.0]), np.array([3e-300, 4e-300]))
        0.6
    """
    lengths = [float(np.abs(vector).max()) for vector in (one, other)]
    if not all(lengths):
        msg = "an embedding is all zeros and has no direction"
        raise Unmeasurable(msg)
    # Scaled first, so that no square is too large or too small for a float.
    a, b = one / lengths[0], other / lengths[1]
    cosine = float(a @ b) / (math.sqrt(float(a @ a)) * math.sqrt(float(b @ b)))
    return min(max(cosine, -1.0), 1.0)


def _embedder(
    embed: Embed | None,
    base_url: str | None,
    model: str | None,
    connection: ConnectionOptions,
) -> Embed:
    if embed is None:
        return EmbeddingClient(base_url, model=model or "", **connection)
    named = [*connection, *(["base_url"] if base_url else []), *(["model"] if model else [])]
    if named:
        msg = f"embed is given, so leave out {listed(sorted(named))}"
        raise ScorerError(msg, code="two_models", path="embed")
    if not callable(embed):
        msg = f"embed is a {type(embed).__name__}; give a function of texts that gives vectors"
        raise ScorerError(msg, code="bad_option", path="embed", value=embed)
    return embed


def _checked(vectors: Sequence[Sequence[float]], count: int) -> list[NDArray[np.float64]]:
    """Make arrays of vectors that a foreign function gave.

    Raises:
        ScorerError: They are not finite vectors of one length, one for each text.
    """
    try:
        arrays = [np.asarray(vector, dtype=np.float64) for vector in vectors]
    except (TypeError, ValueError) as error:
        msg = f"embed gave {shorten(vectors)}; it must give one vector of numbers for each text"
        raise ScorerError(msg, code="bad_embedding", path="embed") from error
    sizes = {array.shape for array in arrays}
    if len(arrays) != count or len(sizes) != 1 or arrays[0].ndim != 1 or not arrays[0].size:
        shapes = [array.shape for array in arrays]
        msg = f"embed gave shapes {shapes}; it must give {count} vectors of one length"
        raise ScorerError(msg, code="bad_embedding", path="embed", value=shapes)
    if not all(np.isfinite(array).all() for array in arrays):
        msg = "embed gave a vector with NaN or infinite numbers"
        raise ScorerError(msg, code="bad_embedding", path="embed")
    return arrays
