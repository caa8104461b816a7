"""Random inputs: our statistics against those of R.

Nothing is shared between the two but the question, so that an agreement to 1e-7 on hundreds of
data sets of all sizes leaves little room for a common mistake.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from tests.against_r.bridge import Answers, ask_r
from tests.against_r.draws import Arguments
from tests.against_r.methods import METHODS

pytestmark = [pytest.mark.long, pytest.mark.r]

DATA_SETS, TOLERANCE = 250, 1e-7
each_method = pytest.mark.parametrize("method", METHODS)


@pytest.fixture(scope="module")
def data_sets() -> dict[str, list[Arguments]]:
    """Each method has a stream of random numbers of its own."""
    streams = np.random.SeedSequence(20_240_917).spawn(len(METHODS))
    return {
        name: [method.draw(rng) for _ in range(DATA_SETS)]
        for (name, method), rng in zip(
            METHODS.items(), map(np.random.default_rng, streams), strict=True
        )
    }


@pytest.fixture(scope="module")
def answers(
    data_sets: Mapping[str, Sequence[Arguments]], tmp_path_factory: pytest.TempPathFactory
) -> Answers:
    return ask_r(data_sets, tmp_path_factory.mktemp("r"))


def differing(
    method: str, cases: Sequence[Arguments], answers: Answers, *, factor: float = 1.0
) -> Iterator[str]:
    """Tell every result that is not R's, with the data set that it came from."""
    looser = METHODS[method].looser
    for number, arguments in enumerate(cases):
        ours, theirs = METHODS[method].ours(arguments), answers[method][number]
        assert set(ours) == set(theirs)
        for name, result in theirs.items():
            found = np.atleast_1d(ours[name]) * factor
            if not close(found, result, looser.get(name, TOLERANCE)):
                yield f"{name}: {found}, R has {result}, of {arguments}"


def close(found: Any, expected: Any, tolerance: float) -> bool:
    """Missing results must be missing on both sides; what R rounds to 0 may be tiny."""
    return found.shape == expected.shape and np.allclose(
        found, expected, rtol=tolerance, atol=1e-14, equal_nan=True
    )


@each_method
def test_r_agrees(
    method: str, data_sets: Mapping[str, Sequence[Arguments]], answers: Answers
) -> None:
    assert not list(differing(method, data_sets[method], answers))


@each_method
def test_a_small_difference_is_told(
    method: str, data_sets: Mapping[str, Sequence[Arguments]], answers: Answers
) -> None:
    told = len(list(differing(method, data_sets[method], answers, factor=1 + 1e-6)))
    assert told >= 200


def test_every_method_of_the_script_is_used(answers: Answers) -> None:
    assert set(answers) == set(METHODS)
    assert all(len(cases) == DATA_SETS for cases in answers.values())
