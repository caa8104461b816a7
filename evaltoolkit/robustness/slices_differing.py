"""`heterogeneity`: does the effect differ between the slices of a comparison?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evaltoolkit import stats
from evaltoolkit.comparison.cells import MISSING_SLICE
from evaltoolkit.comparison.pairing import HYPOTHESIS
from evaltoolkit.errors import PairingError
from evaltoolkit.results import Comparison, Heterogeneity
from evaltoolkit.robustness import slice_sentences as sentences
from evaltoolkit.robustness.phrases import named
from evaltoolkit.robustness.rebuilding import (
    Key,
    cluster_numbers,
    example_numbers,
    grouping_column,
    key_of,
    own_clusters,
)
from evaltoolkit.schema import as_text
from evaltoolkit.wording import rows_of

TEST_COLUMNS = (
    "task", "criterion", "scorer", "slice_by", "n_slices", "n_tested", "n_pairs", "n_clusters",
    "test", "statistic", "df1", "df2", "p_value", "p_adjusted", "correction", "differs", "q",
    "q_df", "i2", "tau2", "tau2_low", "tau2_high", "note",
)  # fmt: skip
"""Columns of `Heterogeneity.table`, in order."""

SLICE_COLUMNS = (
    "task", "criterion", "scorer", "slice_by", "slice", "n_pairs", "n_clusters", "delta", "se",
    "se_used", "se_from", "shrunken", "shrunken_low", "shrunken_high", "own_weight", "tested",
    "note",
)  # fmt: skip
"""Columns of `Heterogeneity.slices`, in order."""

FEW_UNITS = 5
"""With fewer pairs (or clusters) in a slice its standard error says little."""


def heterogeneity(result: Comparison, *, level: float | None = None) -> Heterogeneity:
    """Test whether the effect differs between slices, and shrink what each slice shows.

    A slice that is significant beside one that is not does not show that they differ; this
    does. Per hypothesis and attribute all slices are tested for one mean difference: Welch's F,
    or where a slice has no variance the F of Brown and Forsythe with Mehrotra's degrees of
    freedom; with clusters a Wald test with CR2 covariance and Hotelling degrees of freedom.
    P-values are Holm-adjusted over all hypotheses and attributes. The variance of the true
    effects (``tau2``) comes from Paule and Mandel, with its Q-profile interval.

    Each slice's difference is then drawn towards the common mean, more the fewer its pairs and
    the less the slices differ. The largest of many slice differences is too large by selection;
    its shrunken value is not. Intervals of shrunken values are averaged over the unknown
    spread; that standard errors are estimated widens them by the ratio of t to normal
    quantiles.

    Args:
        result: A comparison that was made with ``by=...``.
        level: Level of the intervals; the test uses one minus it. By default that of `result`.

    Returns:
        The `Heterogeneity`: ``.table`` (tests), ``.slices`` (shrunken), ``.conclusion()``.

    Raises:
        PairingError: The comparison has no slices, or `result` is none.
        EvalToolkitError: The level is not between 0 and 1.

    Source:
        Welch, 1951; Mehrotra, 1997; Tipton and Pustejovsky, 2015; DuMouchel, 1994 (see
        `evaltoolkit.stats.equal_means`, `equal_cluster_means` and `shrink_effects`).

    Example:
        >>> from evaltoolkit import compare
        >>> rows = [(s, i, "xy"[i % 2], float(s == "new" and i % 2 == 0 and i % 3 > 0))
        ...         for s in ("old", "new") for i in range(60)]
        >>> scores = pd.DataFrame(rows, columns=["system", "example_id", "topic", "score"])
        >>> result = compare(scores.assign(criterion="ok"), baseline="old", candidate="new",
        ...                  by="topic")
        >>> found = heterogeneity(result)
        >>> found.table["differs"].tolist(), found.slices["shrunken"].round(2).tolist()
        ([True], [0.64, 0.01])
    """
    if not isinstance(result, Comparison):
        raise PairingError(
            f"a result of et.compare is needed, not {type(result).__name__}; of "
            "et.compare_to_baseline pass one of result.comparisons",
            code="not_a_comparison",
            path="result",
        )
    if result.slices.empty:
        raise PairingError(
            "this comparison has no slices to tell apart; make one with them: "
            "et.compare(..., by='topic')",
            code="no_slices",
            path="by",
        )
    chosen = 1 - float(result.settings["alpha"]) if level is None else level
    stats.t_interval(0.0, 1.0, 1.0, level=chosen)
    groups = list(_groups(result))
    tested = [_tested(group, chosen) for group in groups]
    table = _adjusted([row for row, _ in tested], alpha=1 - chosen)
    slices = [row for _, rows in tested for row in rows]
    settings = {
        **{name: result.settings[name] for name in ("baseline", "candidate", "cluster", "by")},
        "level": chosen,
        "correction": "holm",
        "family_size": int(table["p_value"].notna().sum()),
        "versions": result.settings["versions"],
    }
    frame = pd.DataFrame(slices, columns=list(SLICE_COLUMNS))
    return Heterogeneity(
        table,
        settings,
        sentences.conclusion(table, frame, settings),
        sentences.methods(table, frame, settings),
        slices=frame,
    )


@dataclass(frozen=True)
class _Group:
    """The slices of one hypothesis by one attribute, in the order of the comparison's table."""

    head: dict[str, Any]
    names: Sequence[str]
    deltas: NDArray[np.float64]
    codes: NDArray[np.int64]
    clusters: NDArray[np.int64] | None

    @property
    def sizes(self) -> NDArray[np.int64]:
        return np.bincount(self.codes, minlength=len(self.names)).astype(np.int64)


def _groups(result: Comparison) -> Iterator[_Group]:
    pairs = result.pairs
    units = example_numbers(pairs)
    clusters = cluster_numbers(pairs, units, result)
    rows_by_key: dict[Any, Any] = dict(pairs.groupby(HYPOTHESIS, sort=False).indices)
    deltas = pairs["delta"].to_numpy(dtype=np.float64)
    labels = {
        name: as_text(grouping_column(pairs, name)).fillna(MISSING_SLICE)
        for name in result.settings["by"]
    }
    names: dict[tuple[str, Key], list[str]] = {}
    for row in rows_of(result.slices):
        names.setdefault((str(row["slice_by"]), key_of(row)), []).append(str(row["slice"]))
    for (attribute, key), own in names.items():
        rows = rows_by_key.get(key, np.empty(0, dtype=np.intp))
        rows = rows[np.argsort(units[rows], kind="stable")]
        number = {name: i for i, name in enumerate(own)}
        codes = labels[attribute].iloc[rows].map(number).to_numpy(dtype=np.int64)
        head = {**dict(zip(HYPOTHESIS, key, strict=True)), "slice_by": attribute}
        yield _Group(head, own, deltas[rows], codes, own_clusters(clusters, rows))


@dataclass(frozen=True)
class _Estimates:
    """Mean differences of the slices that have pairs, and how sure they are.

    `filled` marks errors that were pooled from the other slices.
    """

    present: NDArray[np.int64]
    means: NDArray[np.float64]
    covariance: NDArray[np.float64]
    n_clusters: NDArray[np.int64]
    filled: NDArray[np.bool_]


def _tested(group: _Group, level: float) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Give the row of the tests and the rows of the slices."""
    found = _estimates(group)
    enough = _testable(group, found)
    test = _test(group, enough)
    spread, shrunken, reason = _shrunken(found, level)
    usable = [group.names[i] for i in enough]
    left_out = [name for name in group.names if name not in usable]
    remarks = [
        f"not tested: {test.reason}" if test.reason else "",
        _left_out(left_out, group) if usable else "",
        _thin(group, found, enough),
        _spread_remark(spread, reason),
    ]
    row = {
        **group.head,
        "n_slices": len(group.names),
        "n_tested": 0 if test.reason else len(usable),
        "n_pairs": int(group.deltas.size),
        "n_clusters": int(_number_of_clusters(group)),
        **{name: getattr(test, name) for name in ("test", "statistic", "df1", "df2", "p_value")},
        "q": spread.q,
        "q_df": spread.df,
        "i2": spread.i2,
        "tau2": spread.tau2,
        "tau2_low": spread.low,
        "tau2_high": spread.high,
        "note": "; ".join(remark for remark in remarks if remark),
    }
    tested = set() if test.reason else set(enough)
    return row, list(_slice_rows(group, found, shrunken, tested))


def _number_of_clusters(group: _Group) -> int:
    return group.deltas.size if group.clusters is None else np.unique(group.clusters).size


def _estimates(group: _Group) -> _Estimates:
    present = np.flatnonzero(group.sizes)
    order = np.searchsorted(present, group.codes)
    clusters = np.arange(order.size) if group.clusters is None else group.clusters
    # Groups are numbered by first appearance: let them appear in the order of their codes.
    by_code = np.argsort(order, kind="stable")
    found = stats.group_means(group.deltas[by_code], order[by_code], clusters[by_code])
    variances = np.diag(found.covariance)
    known = np.nan_to_num(variances)
    df = found.n_clusters - 1
    pooled = float(df @ (known * found.n_clusters)) / max(float(df.sum()), 1.0)
    filled = ~(known > 0)
    covariance = found.covariance.copy()
    covariance[filled, :] = covariance[:, filled] = 0.0
    fill = pooled / found.n_clusters if found.n_clusters.size else found.n_clusters
    covariance[filled, filled] = fill[filled]
    return _Estimates(present, found.means, covariance, found.n_clusters.astype(np.int64), filled)


def _testable(group: _Group, found: _Estimates) -> list[int]:
    """Number the slices that can be tested: two pairs, or two clusters that vary."""
    enough = found.n_clusters >= 2
    if group.clusters is not None:
        enough &= ~found.filled
    return [int(i) for i in found.present[enough]]


def _test(group: _Group, enough: Sequence[int]) -> stats.GroupTest:
    if len(enough) < 2:
        what = "two pairs" if group.clusters is None else "two clusters that vary"
        return stats.no_group_test(f"fewer than two slices have {what}")
    if group.clusters is None:
        return stats.equal_means([group.deltas[group.codes == i] for i in enough])
    kept = np.isin(group.codes, enough)
    return stats.equal_cluster_means(group.deltas[kept], group.codes[kept], group.clusters[kept])


_NO_SPREAD = stats.EffectSpread(math.nan, 0, math.nan, math.nan, math.nan, math.nan)


def _shrunken(
    found: _Estimates, level: float
) -> tuple[stats.EffectSpread, stats.Shrunken | None, str]:
    """Estimate spread and shrunken effects, or say why there are none."""
    if found.means.size < 2:
        return _NO_SPREAD, None, "fewer than two slices have pairs"
    ends = np.linalg.eigvalsh(found.covariance)
    if not ends[-1] > 0:
        return _NO_SPREAD, None, "no slice has any variance"
    if not ends[0] > 1e-10 * ends[-1]:
        return _NO_SPREAD, None, "the clusters are too few for so many slices"
    spread = stats.effect_spread(found.means, found.covariance, level=level)
    wide = _widening(found, level)
    covariance = found.covariance * np.outer(wide, wide)
    return spread, stats.shrink_effects(found.means, covariance, level=level), ""


def _widening(found: _Estimates, level: float) -> NDArray[np.float64]:
    """Ratio of the t to the normal quantile: errors from few pairs are themselves unsure."""
    own = found.n_clusters - 1
    df = np.where(found.filled, own.sum(), own)
    normal = stats.t_interval(0.0, 1.0, math.inf, level=level).high
    return np.array([stats.t_interval(0.0, 1.0, float(k), level=level).high for k in df]) / normal


def _left_out(names: list[str], group: _Group) -> str:
    if not names:
        return ""
    what = "two pairs" if group.clusters is None else "two clusters that vary"
    return f"left out of the test, without {what}: {named(names)}"


def _thin(group: _Group, found: _Estimates, enough: Sequence[int]) -> str:
    thin = int(np.isin(found.present, enough)[found.n_clusters < FEW_UNITS].sum())
    if not thin:
        return ""
    unit = "pairs" if group.clusters is None else "clusters"
    return f"{thin} of the tested slices below {FEW_UNITS} {unit}: the test is approximate"


def _spread_remark(spread: stats.EffectSpread, reason: str) -> str:
    if reason:
        return f"no spread or shrunken values: {reason}"
    if math.isnan(spread.high):
        return "the slices are more alike than chance makes them: no interval for tau2"
    return ""


def _slice_rows(
    group: _Group, found: _Estimates, shrunken: stats.Shrunken | None, tested: set[int]
) -> Iterator[dict[str, Any]]:
    place = {int(code): i for i, code in enumerate(found.present)}
    for code, name in enumerate(group.names):
        head = {**group.head, "slice": name, "tested": code in tested}
        if code in place:
            yield {**head, **_slice_row(place[code], group, found, shrunken)}
        else:
            yield {**head, "n_pairs": 0, "n_clusters": 0, "se_from": "none",
                   "note": "no usable pair"}  # fmt: skip


def _slice_row(
    i: int, group: _Group, found: _Estimates, shrunken: stats.Shrunken | None
) -> dict[str, Any]:
    n_clusters = int(found.n_clusters[i])
    filled = bool(found.filled[i])
    variance = float(found.covariance[i, i])
    used = math.sqrt(variance) if variance > 0 else math.nan
    own = 0.0 if filled else used
    row = {
        "n_pairs": int(group.sizes[found.present[i]]),
        "n_clusters": n_clusters,
        "delta": float(found.means[i]),
        "se": own if n_clusters > 1 else math.nan,
        "se_used": used,
        "se_from": "none" if math.isnan(used) else "pooled" if filled else "own",
        "note": _slice_note(group, n_clusters, filled=filled),
    }
    if shrunken is not None:
        row |= {
            "shrunken": float(shrunken.mean[i]),
            "shrunken_low": float(shrunken.low[i]),
            "shrunken_high": float(shrunken.high[i]),
            "own_weight": float(shrunken.own_weight[i]),
        }
    return row


def _slice_note(group: _Group, n_clusters: int, *, filled: bool) -> str:
    unit = "pair" if group.clusters is None else "cluster"
    if n_clusters == 1:
        return f"one {unit}: standard error pooled from the other slices"
    if filled:
        return "no variance: standard error pooled from all slices"
    return f"only {n_clusters} {unit}s" if n_clusters < FEW_UNITS else ""


def _adjusted(rows: Sequence[dict[str, Any]], *, alpha: float) -> pd.DataFrame:
    p_values = np.array([row["p_value"] for row in rows], dtype=np.float64)
    known = ~np.isnan(p_values)
    adjusted = np.full(p_values.size, math.nan)
    adjusted[known] = stats.adjust(p_values[known], method="holm")
    table = pd.DataFrame(rows).assign(
        p_adjusted=adjusted,
        correction="holm" if known.sum() > 1 else "single",
        differs=pd.array([None if math.isnan(p) else p <= alpha for p in adjusted], "boolean"),
    )
    return table[list(TEST_COLUMNS)]
