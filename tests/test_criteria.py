"""What is taken for granted about a criterion, and how that is said."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaltoolkit.criteria import criteria_of, describe_criteria, infer_kind
from evaltoolkit.errors import SchemaError
from evaltoolkit.scores import normalise_scores

# A busy machine says nothing about a law.
law = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def scores(values: list[float | None], name: str = "quality", **facts: object) -> pd.DataFrame:
    raw = pd.DataFrame({"score": values}).assign(
        system="a", example_id=range(len(values)), criterion=name, **facts
    )
    return normalise_scores(raw)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0, 1, 1], "binary"),
        ([1, 1], "binary"),
        ([0], "binary"),
        ([1, 2, 5], "ordinal"),
        (list(range(11)), "ordinal"),
        (list(range(12)), "continuous"),
        ([-1, 0, 1], "ordinal"),
        ([0, 0.5, 1], "continuous"),
        ([0.2], "continuous"),
        ([], "continuous"),
    ],
)
def test_kind_follows_from_the_values(values: list[float], kind: str) -> None:
    assert infer_kind(np.array(values, dtype=float)) == kind


def test_a_kind_is_inferred_over_the_whole_table_not_per_system() -> None:
    both = pd.concat([scores([0, 1]), scores([0, 0.5]).assign(system="b")])
    assert criteria_of(both)["quality"].kind == "continuous"


@pytest.mark.parametrize(
    "name",
    [
        "latency", "latency_s", "cost_usd", "total_cost", "word_perplexity", "tokens_out", "WER",
        "metrics.toxicity", "runtime", "hallucination_rate", "loss", "val_loss",
    ],
)  # fmt: skip
def test_names_that_everyone_wants_low(name: str) -> None:
    info = criteria_of(scores([0.3, 0.7], name))[name]
    assert (info.higher_is_better, info.direction_from) == (False, "inferred")


@pytest.mark.parametrize(
    "name", ["accuracy", "glossary", "closeness", "costume", "answer", "water", "terse"]
)
def test_names_that_only_contain_such_a_word_count_as_higher_is_better(name: str) -> None:
    info = criteria_of(scores([0.3, 0.7], name))[name]
    assert (info.higher_is_better, info.direction_from) == (True, "assumed")


def test_a_declared_direction_beats_the_name() -> None:
    info = criteria_of(scores([0.3, 0.7], "latency", higher_is_better=True))["latency"]
    assert (info.higher_is_better, info.direction_from) == (True, "declared")


@pytest.mark.parametrize(
    ("values", "bounds", "known"),
    [
        ([0, 1], (0, 1), "inferred"),
        ([1, 1], (0, 1), "inferred"),
        ([0, 0.5, 1], (0, 1), "inferred"),
        ([0.1, 0.9], None, "unknown"),
        ([0, 0.5, 1.5], None, "unknown"),
        ([1, 2, 5], None, "unknown"),
    ],
)
def test_bounds_are_inferred_only_where_the_data_prove_them(
    values: list[float], bounds: tuple[float, float] | None, known: str
) -> None:
    info = criteria_of(scores(values))["quality"]
    assert info.bounds_from == known
    if bounds is None:
        assert np.isnan([info.lower_bound, info.upper_bound]).all()
    else:
        assert (info.lower_bound, info.upper_bound) == bounds


def test_one_declared_bound_leaves_the_other_unknown() -> None:
    info = criteria_of(scores([0, 1], lower_bound=0))["quality"]
    assert (info.lower_bound, info.bounds_from) == (0.0, "declared")
    assert np.isnan(info.upper_bound)


def test_worst_and_best_follow_the_direction() -> None:
    up = criteria_of(scores([0, 1]))["quality"]
    down = criteria_of(scores([0, 1], "regressions"))["regressions"]
    assert (up.worst, up.best) == (0.0, 1.0)
    assert (down.worst, down.best) == (1.0, 0.0)


def test_declared_facts_are_kept_and_defaults_are_blocking_and_not_self_referenced() -> None:
    info = criteria_of(
        scores([0.5], kind="continuous", blocking=False, threshold=0.4, weight=2,
               self_referenced=True)
    )["quality"]  # fmt: skip
    assert (info.kind, info.kind_from) == ("continuous", "declared")
    assert (info.blocking, info.self_referenced) == (False, True)
    assert (info.threshold, info.weight) == (0.4, 2.0)
    plain = criteria_of(scores([0.5]))["quality"]
    assert (plain.blocking, plain.self_referenced) == (True, False)
    assert np.isnan([plain.threshold, plain.weight]).all()


def test_a_kind_that_does_not_exist_or_does_not_fit_is_refused() -> None:
    with pytest.raises(SchemaError, match="'nominal'; it must be one of 'binary', 'ordinal'"):
        describe_criteria(scores([0, 1], kind="nominal"))
    with pytest.raises(SchemaError, match="declared binary but has scores such as 0.5"):
        describe_criteria(scores([0, 0.5], kind="binary"))


def test_a_criterion_that_was_never_scored_is_listed_all_the_same() -> None:
    table = pd.concat([scores([1, 0]), scores([None], "other")])
    described = describe_criteria(table)
    assert described["criterion"].tolist() == ["quality", "other"]
    assert described["kind"].tolist() == ["binary", "continuous"]


@law
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)), st.randoms())
def test_kind_does_not_depend_on_order_or_repeats(values: list[float], random: object) -> None:
    shuffled = values + values
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert infer_kind(np.array(values)) == infer_kind(np.array(shuffled))
