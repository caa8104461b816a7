"""`EmbeddingSimilarity`: the values of autoevals 0.4.1, its faults repaired, and its endpoint."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaltoolkit.clients import Retries
from evaltoolkit.errors import ScorerError
from evaltoolkit.models import Example, Output, Score
from evaltoolkit.scorers import EmbeddingSimilarity, run_scorer
from evaltoolkit.scorers.judging.embedding import cosine_of
from support.endpoint import Reply, Request, ScriptedEndpoint, json_reply

NAN, INF = math.nan, math.inf
finite = st.floats(-1e6, 1e6).filter(lambda x: x == 0 or abs(x) > 1e-6)


def fixed(**vectors: Sequence[float]) -> Any:
    return lambda texts: [vectors[text] for text in texts]


def at_cosine(cosine: float, **options: Any) -> Score:
    embed = fixed(out=[cosine, math.sqrt(1 - cosine**2)], ref=[1.0, 0.0])
    return scored_by(EmbeddingSimilarity(embed, **options), "out", "ref")


def scored_by(scorer: EmbeddingSimilarity, output: Any, reference: Any) -> Score:
    (score,) = run_scorer(scorer, Output(text=output), Example(id=1, reference=reference))
    return score


# Obtained by running autoevals 0.4.1, whose vectors travelled as 32-bit floats.
@pytest.mark.parametrize(
    ("cosine", "least", "value"),
    [
        (1.0, 0.7, 1.0),
        (math.cos(math.radians(15)), 0.7, 0.8864194191558222),
        (0.90, 0.7, 0.6666666666666667),
        (math.cos(math.radians(30)), 0.7, 0.5534179996617749),
        (0.85, 0.7, 0.5),
        (0.7071068, 0.7, 0.023689270621825017),
        (0.70, 0.7, 0.0),
        (0.0, 0.7, 0.0),
        (-1.0, 0.7, 0.0),
        (math.cos(math.radians(30)), 0.0, 0.8660253998985324),
        (math.cos(math.radians(30)), 0.5, 0.7320507997970649),
        (math.cos(math.radians(30)), 0.8, 0.33012699949266205),
    ],
)
def test_published_values(cosine: float, least: float, value: float) -> None:
    assert at_cosine(cosine, expected_min=least).score == pytest.approx(value, abs=1e-6)


def test_exact_doubles() -> None:
    score = at_cosine(math.cos(math.radians(30)))
    assert score.score == pytest.approx(0.5534180126, abs=1e-10)


def test_the_pass_mark_is_not_the_scale() -> None:
    """Published wrappers used one number for both: 0.8 then asked for a cosine of 0.96."""
    passing, failing = at_cosine(0.95), at_cosine(0.93)
    assert passing.score == pytest.approx(0.25 / 0.3)
    assert (passing.passed, failing.passed) == (True, False)
    assert at_cosine(1.0, threshold=1.0).passed is True


@pytest.mark.parametrize("least", [1.0, 1.5, -1.1, NAN])
def test_an_impossible_scale_is_refused_at_once(least: float) -> None:
    with pytest.raises(ScorerError, match="expected_min is"):
        EmbeddingSimilarity(fixed(), expected_min=least)


@pytest.mark.parametrize(
    ("output", "reference", "reason"),
    [
        (None, "ref", "the output has no text"),
        ("out", None, "the example has no reference"),
        ("", "ref", "the answer is empty"),
        ("out", " \n", "the reference is empty"),
        ("out", {"a": {1}}, "is not JSON"),
        ("zero", "ref", "all zeros"),
        ("ref", "zero", "all zeros"),
    ],
)
def test_what_cannot_be_measured_is_unscored(output: Any, reference: Any, reason: str) -> None:
    score = scored_by(
        EmbeddingSimilarity(fixed(out=[1, 2], ref=[1, 0], zero=[0, 0])), output, reference
    )
    assert score.status == "unscored"
    assert reason in str(score.message)


@pytest.mark.parametrize(
    ("embed", "said"),
    [
        (fixed(out=[1, NAN], ref=[1, 0]), "NaN or infinite"),
        (fixed(out=[1, INF], ref=[1, 0]), "NaN or infinite"),
        (fixed(out=[1, 2, 3], ref=[1, 0]), "shapes"),
        (fixed(out=[], ref=[]), "shapes"),
        (fixed(out=[[1.0]], ref=[[1.0]]), "shapes"),
        (fixed(out=["x"], ref=["y"]), "vector of numbers"),
        (lambda texts: None, "vector of numbers"),
        (lambda texts: [[1.0]], "shapes"),
        (lambda texts: [None, None], "shapes|NaN"),
        (lambda texts: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_broken_embeddings_are_errors(embed: Any, said: str) -> None:
    score = scored_by(EmbeddingSimilarity(embed), "out", "ref")
    assert (score.status, score.score) == ("scorer_error", None)
    assert any(word in str(score.message) for word in said.split("|"))


@given(st.lists(st.tuples(finite, finite), min_size=1, max_size=6), st.floats(-1, 0.99))
def test_laws(pairs: list[tuple[float, float]], least: float) -> None:
    one, other = (list(side) for side in zip(*pairs, strict=True))
    there = scored_by(EmbeddingSimilarity(fixed(a=one, b=other), expected_min=least), "a", "b")
    back = scored_by(EmbeddingSimilarity(fixed(a=one, b=other), expected_min=least), "b", "a")
    assert (there.score, there.status) == (back.score, back.status)
    if not any(one) or not any(other):
        assert there.status == "unscored"
        return
    assert there.score is not None
    assert 0 <= there.score <= 1
    scaled = cosine_of(np.array(one) * 1e-150, np.array(other) * 1e150)
    assert scaled == pytest.approx(cosine_of(np.array(one), np.array(other)), abs=1e-9)
    itself = scored_by(EmbeddingSimilarity(fixed(a=one), expected_min=least), "a", "a")
    assert itself.score == pytest.approx(1.0, abs=1e-9)


def test_structures_and_the_prefix() -> None:
    seen: list[str] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        seen.extend(texts)
        return [[1.0, 1.0] for _ in texts]

    score = scored_by(EmbeddingSimilarity(embed, prefix="query: "), {"a": "é"}, 12)
    assert score.score == pytest.approx(1.0)
    assert seen == ['query: {"a": "é"}', "query: 12"]


def test_an_endpoint(tmp_path: Path) -> None:
    def answer(request: Request) -> Reply:
        vectors = {"out": [0.9, math.sqrt(0.19)], "ref": [1.0, 0.0]}
        return json_reply({"data": [{"embedding": vectors[t]} for t in request.body["input"]]})

    with ScriptedEndpoint(answer) as server:
        scorer = EmbeddingSimilarity(base_url=server.url, model="e", cache=tmp_path / "c")
        for _ in range(2):
            score = scored_by(scorer, "out", "ref")
            assert score.score == pytest.approx(2 / 3)
            assert score.details == {
                "cosine": pytest.approx(0.9), "expected_min": 0.7, "model": "e",
            }  # fmt: skip
        assert len(server.requests) == 1


def test_an_endpoint_that_fails() -> None:
    with ScriptedEndpoint([Reply(b"oops", status=500)]) as server:
        scorer = EmbeddingSimilarity(base_url=server.url, model="e", retries=Retries(attempts=1))
        score = scored_by(scorer, "out", "ref")
    assert score.status == "scorer_error"
    assert "HTTP 500" in str(score.message)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({}, "name the model"),
        ({"model": "e"}, "no endpoint is named"),
        ({"model": "e", "base_url": "http://example.com"}, "clear text"),
        ({"embed": fixed(), "model": "e"}, "leave out 'model'"),
        ({"embed": fixed(), "cache": "c"}, "leave out 'cache'"),
        ({"embed": fixed(), "treshold": 1}, "did you mean 'threshold'"),
        ({"embed": fixed(), "expected_min": "0"}, "expected_min is '0'"),
        ({"embed": fixed(), "prefix": 5}, "prefix is 5; give a text"),
        ({"embed": "text"}, "embed is a str"),
    ],
)
def test_mistakes_are_named_at_construction(options: dict[str, Any], match: str) -> None:
    with pytest.raises(ScorerError, match=match):
        EmbeddingSimilarity(**options)
