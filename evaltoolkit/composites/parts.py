"""The parts of a composite: which criteria, with which weight, on which common scale."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from evaltoolkit.criteria import CriterionInfo, criteria_of
from evaltoolkit.errors import SchemaError, listed, nearest

SCORER = "weighted mean of"
"""How the scorer of every composite begins."""

Rescale = Literal["bounds", "none", "raw"]

RESCALES = ("bounds", "none", "raw")

WIDE_APART = 5.0
"""Ranges of scores that differ by more than this factor are visibly different scales."""


@dataclass(frozen=True)
class Parts:
    """The criteria of a composite, in alphabetical order.

    Attributes:
        weights: Weight of each criterion.
        facts: What is known of each.
        scorers: The scorer whose scores count, for each.
        rescale: How scores become comparable.
    """

    weights: dict[str, float]
    facts: dict[str, CriterionInfo]
    scorers: dict[str, str]
    rescale: Rescale

    @property
    def names(self) -> list[str]:
        """Names of the criteria."""
        return list(self.weights)

    @property
    def shares(self) -> np.ndarray:
        """Weights as shares of their sum, in the order of `names`."""
        weights = np.array(list(self.weights.values()), dtype=np.float64)
        # Scaled first, since a sum of very large weights would overflow.
        weights /= weights.max()
        return np.asarray(weights / weights.sum(), dtype=np.float64)

    @property
    def higher_is_better(self) -> bool:
        """Direction of the composite."""
        return self.rescale == "bounds" or next(iter(self.facts.values())).higher_is_better

    def scaled(self, values: np.ndarray) -> np.ndarray:
        """Put scores (measurements, criteria) on the common scale."""
        if self.rescale != "bounds":
            return values
        worst = np.array([self.facts[name].worst for name in self.names])
        best = np.array([self.facts[name].best for name in self.names])
        # Scores may lie beyond a bound by rounding.
        return np.asarray(np.clip((values - worst) / (best - worst), 0.0, 1.0))

    def bounds(self, *, partial: bool) -> tuple[float, float]:
        """Bounds of the composite; NaN where a part has none.

        Args:
            partial: Whether a composite may rest on a subset of the criteria.
        """
        if self.rescale == "bounds":
            return 0.0, 1.0
        lower = np.array([info.lower_bound for info in self.facts.values()])
        upper = np.array([info.upper_bound for info in self.facts.values()])
        if partial:
            return float(lower.min()), float(upper.max())
        return float(self.shares @ lower), float(self.shares @ upper)


def parts_of(
    table: pd.DataFrame,
    *,
    weights: Mapping[str, float] | None,
    scorers: Mapping[str, str] | None,
    rescale: Rescale,
) -> Parts:
    """Resolve the parts of a composite.

    Raises:
        SchemaError: Unknown names, weights that are no weights, several scorers of a criterion,
            or scales that cannot be brought together.
    """
    if rescale not in RESCALES:
        raise SchemaError(
            f"rescale is {rescale!r}; it must be one of {listed(RESCALES)}",
            code="bad_option",
            path="rescale",
            value=rescale,
        )
    known = sorted(table["criterion"].unique())
    names = _default_names(table) if weights is None else list(weights)
    for name in names:
        if name not in known:
            raise SchemaError(
                f"weights names the criterion {name!r}, which the table does not have; "
                f"{nearest(name, known)}",
                code="unknown_criterion",
                path=f"weights[{name!r}]",
                value=name,
            )
    if not names:
        raise SchemaError(
            "there is no criterion to combine; give weights={criterion: weight, ...}",
            code="no_criteria",
            path="weights",
        )
    names.sort()
    used = table[table["criterion"].isin(names)]
    facts = criteria_of(used)
    facts = {name: facts[name] for name in names}
    chosen = _weights(facts, weights)
    parts = Parts(chosen, facts, _scorers(used, names, scorers), rescale)
    _check_scales(used, parts)
    return parts


def _default_names(table: pd.DataFrame) -> list[str]:
    """All criteria but composites, which would count their parts twice."""
    composite = table["scorer"].str.startswith(SCORER)
    return [str(name) for name in table.loc[~composite, "criterion"].unique()]


def _weights(
    facts: Mapping[str, CriterionInfo], given: Mapping[str, float] | None
) -> dict[str, float]:
    declared = {name: info.weight for name, info in facts.items()}
    if given is None and all(math.isnan(weight) for weight in declared.values()):
        return dict.fromkeys(facts, 1.0)
    weights = declared if given is None else {name: float(given[name]) for name in facts}
    for name, weight in weights.items():
        if given is None and math.isnan(weight):
            raise SchemaError(
                f"the column weight is filled for some criteria but not for {name!r}; fill it for "
                "all, or name the criteria that count: weights={criterion: weight, ...}",
                code="bad_weight",
                path=f"weights[{name!r}]",
            )
        if not (weight > 0 and math.isfinite(weight)):
            raise SchemaError(
                f"the weight of {name!r} is {weight!r}; it must be a positive number, and a "
                "criterion that shall not count must be left out of weights=",
                code="bad_weight",
                path=f"weights[{name!r}]",
                value=weight,
            )
    return weights


def _scorers(
    used: pd.DataFrame, names: list[str], given: Mapping[str, str] | None
) -> dict[str, str]:
    chosen = dict(given or {})
    for name in chosen:
        if name not in names:
            raise SchemaError(
                f"scorers names the criterion {name!r}, which is not combined; "
                f"{nearest(name, names)}",
                code="unknown_criterion",
                path=f"scorers[{name!r}]",
                value=name,
            )
    for name in names:
        known = sorted(used.loc[used["criterion"] == name, "scorer"].unique())
        if name in chosen and chosen[name] not in known:
            raise SchemaError(
                f"scorers[{name!r}] is {chosen[name]!r}, which did not score it; "
                f"{nearest(chosen[name], known)}",
                code="unknown_scorer",
                path=f"scorers[{name!r}]",
                value=chosen[name],
            )
        if name not in chosen and len(known) > 1:
            raise SchemaError(
                f"the criterion {name!r} has several scorers ({listed(known)}), and their scores "
                f"are no trials of one another; pick one: scorers={{{name!r}: {known[0]!r}}}",
                code="several_scorers",
                path=f"scorers[{name!r}]",
                value=known,
            )
        chosen.setdefault(name, str(known[0]))
    return {name: chosen[name] for name in names}


def _check_scales(used: pd.DataFrame, parts: Parts) -> None:
    if parts.rescale == "bounds":
        _need_bounds(parts)
    else:
        _need_one_direction(parts)
    if parts.rescale == "none":
        _need_like_scales(used, parts)


def _need_bounds(parts: Parts) -> None:
    unknown = [n for n, i in parts.facts.items() if not i.lower_bound < i.upper_bound]
    unknown += [n for n, i in parts.facts.items() if math.isinf(i.upper_bound - i.lower_bound)]
    if unknown:
        raise SchemaError(
            f"the worst and the best score of the criterion {listed(unknown)} are not known, so "
            "it cannot be put on a scale from 0 to 1; declare them (columns lower_bound and "
            "upper_bound, or tidy_scores(declare=...)), leave it out (weights={...} names those "
            "that count), or combine raw scores with rescale='none'",
            code="unknown_bounds",
            path="rescale",
            value=unknown,
        )


def _need_one_direction(parts: Parts) -> None:
    lower = [name for name, info in parts.facts.items() if not info.higher_is_better]
    if lower and len(lower) < len(parts.facts):
        raise SchemaError(
            f"of the criteria to combine {listed(lower)} is better when lower and the others are "
            "better when higher, so a mean of raw scores says nothing; use rescale='bounds', or "
            "turn those scores round first",
            code="mixed_directions",
            path="rescale",
            value=lower,
        )


def _need_like_scales(used: pd.DataFrame, parts: Parts) -> None:
    """Refuse raw scores whose known bounds differ, or whose observed ranges are far apart."""
    bounds = {(info.lower_bound, info.upper_bound) for info in parts.facts.values()}
    if any(math.isnan(low + high) for low, high in bounds):
        scored = used.groupby("criterion")["score"].agg(lambda s: s.abs().max())
        sizes = scored[scored > 0]
        different = len(sizes) > 1 and float(sizes.max() / sizes.min()) > WIDE_APART
    else:
        different = len(bounds) > 1
    if different:
        ranges = used.groupby("criterion")["score"].agg(["min", "max"])
        seen = ", ".join(f"{n}: {low:g} to {high:g}" for n, low, high in ranges.itertuples())
        raise SchemaError(
            f"the criteria are on different scales ({seen}), so the widest would decide the mean "
            "of raw scores; use rescale='bounds' (with declared bounds), or rescale='raw' if that "
            "is meant, e.g. for points that add up",
            code="mixed_scales",
            path="rescale",
        )
