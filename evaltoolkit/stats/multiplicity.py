"""Corrections for many hypotheses: one table names them all."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from evaltoolkit.errors import EvalToolkitError, listed, nearest
from evaltoolkit.stats.checks import choice, fraction
from evaltoolkit.stats.types import Floats, Significance


class StoreyQ(NamedTuple):
    """Storey's q-values with the estimated share of true null hypotheses."""

    pi0: float
    q: Floats


class Method(NamedTuple):
    """One way of correcting p-values.

    Attributes:
        adjust: Takes p-values (no NaN, at least two) and alpha, returns adjusted p-values.
        controls: The error rate that is kept: ``fwer`` (any false finding), ``fdr`` (share of
            false findings) or ``none``.
        joint: ``bonferroni`` where single intervals at ``1 - alpha / m`` hold jointly with the
            tests; None where no simple joint interval goes with the method.
        label: How to name it in a sentence.
    """

    adjust: Callable[[Floats, float], Floats]
    controls: Literal["fwer", "fdr", "none"]
    joint: Literal["bonferroni"] | None
    label: str


def storey(p: ArrayLike, *, lam: float = 0.5, finite_sample: bool = True) -> StoreyQ:
    """Return Storey's q-values.

    They assume that the p-values are nearly independent: with correlated criteria they let
    through two to three times the promised share of false findings.

    Args:
        p: p-values without NaN.
        lam: p-values above this are taken as coming from true null hypotheses.
        finite_sample: Count one more of these, which controls the rate in finite samples.

    Source:
        Storey, A direct approach to false discovery rates, 2002; Storey, Taylor and Siegmund,
        Strong control, conservative point estimation, 2004.

    Example:
        >>> storey([0.001, 0.2, 0.6, 0.9], finite_sample=False)
        StoreyQ(pi0=1.0, q=array([0.004, 0.4  , 0.8  , 0.9  ]))
    """
    values = _checked(p)
    above = np.count_nonzero(values > fraction(lam, name="lam")) + (1 if finite_sample else 0)
    pi0 = min(1.0, above / (values.size * (1 - lam))) if values.size else math.nan
    return StoreyQ(pi0, pi0 * _statsmodels(values, 0.05, name="fdr_bh"))


def _statsmodels(p: Floats, alpha: float, *, name: str) -> Floats:
    from statsmodels.stats import multitest

    with np.errstate(divide="ignore"):  # log(0) at p = 1, which ends as 1 again
        adjusted: Floats = multitest.multipletests(p, alpha=alpha, method=name)[1]
    return adjusted


def _holm(p: Floats, alpha: float) -> Floats:
    """Adjust by Holm's method.

    Written here since statsmodels collects garbage in every call, some 50 ms in a notebook, and
    hierarchies and margins call this once per hypothesis. A test holds it to statsmodels.
    """
    del alpha  # adjusted p-values do not depend on it
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    return adjusted


def _storey(p: Floats, alpha: float) -> Floats:
    del alpha  # q-values do not depend on it
    return storey(p).q


def _unadjusted(p: Floats, alpha: float) -> Floats:
    del alpha  # nothing is adjusted to it
    return p


def _method(
    name: str,
    controls: Literal["fwer", "fdr"],
    label: str,
    joint: Literal["bonferroni"] | None = None,
) -> Method:
    return Method(partial(_statsmodels, name=name), controls, joint, label)


METHODS: dict[str, Method] = {
    "bonferroni": _method("bonferroni", "fwer", "Bonferroni", "bonferroni"),
    "sidak": _method("sidak", "fwer", "Šidák", "bonferroni"),
    "holm": Method(_holm, "fwer", "bonferroni", "Holm"),
    "holm-sidak": _method("holm-sidak", "fwer", "Holm–Šidák", "bonferroni"),
    "hochberg": _method("simes-hochberg", "fwer", "Hochberg"),
    "hommel": _method("hommel", "fwer", "Hommel"),
    "fdr_bh": _method("fdr_bh", "fdr", "Benjamini–Hochberg"),
    "fdr_by": _method("fdr_by", "fdr", "Benjamini–Yekutieli"),
    "fdr_tsbh": _method("fdr_tsbh", "fdr", "two-stage Benjamini–Hochberg"),
    "fdr_tsbky": _method("fdr_tsbky", "fdr", "two-stage Benjamini–Krieger–Yekutieli"),
    "fdr_gbs": _method("fdr_gbs", "fdr", "Gavrilov–Benjamini–Sarkar"),
    "storey": Method(_storey, "fdr", None, "Storey"),
    "none": Method(_unadjusted, "none", None, "no correction"),
}
"""Name of each correction and how it is done."""

ALIASES: dict[str, str] = {
    "bh": "fdr_bh",
    "by": "fdr_by",
    "tsbh": "fdr_tsbh",
    "tsbky": "fdr_tsbky",
    "bky": "fdr_tsbky",
    "gbs": "fdr_gbs",
    "holm_sidak": "holm-sidak",
    "simes-hochberg": "hochberg",
    "hs": "holm-sidak",
    "b": "bonferroni",
    "s": "sidak",
    "h": "holm",
    "sh": "hochberg",
    "ho": "hommel",
    "fdr_i": "fdr_bh",
    "fdr_n": "fdr_by",
}
"""Other names of the same corrections, with the short ones of statsmodels."""


def method_name(name: str) -> str:
    """Return the key of `METHODS` that a name or alias stands for.

    Raises:
        EvalToolkitError: The name is unknown (code ``unknown_correction``).

    Example:
        >>> method_name("BH")
        'fdr_bh'
    """
    key = str(name).strip().lower()
    key = ALIASES.get(key, key)
    if key not in METHODS:
        raise EvalToolkitError(
            f"correction {name!r} is unknown; {nearest(key, [*METHODS, *ALIASES])}",
            code="unknown_correction",
            path="correction",
            value=name,
        )
    return key


def adjust(p: ArrayLike, *, method: str = "holm", alpha: float = 0.05) -> Floats:
    """Adjust p-values for the number of hypotheses.

    Args:
        p: p-values of the whole family; NaN stands for a hypothesis that was not tested.
        method: A key of `METHODS` or of `ALIASES`.
        alpha: Level; only the two-stage methods use it.

    Returns:
        Adjusted p-values in the same order, at most 1. NaN stays NaN and does not count; a
        family of one is unchanged.

    Raises:
        EvalToolkitError: The method is unknown or a p-value lies outside 0 to 1.

    Source:
        Holm, A simple sequentially rejective multiple test procedure, 1979; Benjamini and
        Hochberg, Controlling the false discovery rate, 1995; and the authors named in
        `METHODS`.

    Example:
        >>> adjust([0.01, 0.04, np.nan, 0.03])
        array([0.03, 0.06,  nan, 0.06])
    """
    how = METHODS[method_name(method)]
    fraction(alpha, name="alpha")
    values = np.array(p, dtype=np.float64)
    tested = ~np.isnan(values)
    known = _checked(values[tested])
    if known.size > 1:
        values[tested] = np.minimum(how.adjust(known, alpha), 1.0)
    return values


def combine_pvalues(
    p: ArrayLike, *, method: Literal["fisher", "stouffer"] = "fisher"
) -> Significance:
    """Combine independent p-values of one hypothesis into one.

    Args:
        p: p-values without NaN, of independent data.
        method: ``fisher`` or ``stouffer``.

    Returns:
        Statistic and combined p-value; NaN without p-values.

    Raises:
        EvalToolkitError: The method is unknown or a p-value lies outside 0 to 1.

    Source:
        Fisher, Statistical methods for research workers, 1932; Stouffer et al., The American
        soldier, 1949.

    Example:
        >>> round(combine_pvalues([0.01, 0.2, 0.3]).p_value, 5)
        0.02156
    """
    choice(method, ["fisher", "stouffer"], name="method")
    values = _checked(p)
    if not values.size:
        return Significance(math.nan, math.nan)
    from scipy import stats

    combined = stats.combine_pvalues(values, method=method)
    return Significance(float(combined.statistic), float(combined.pvalue))


def _checked(p: ArrayLike) -> Floats:
    values = np.asarray(p, dtype=np.float64).ravel()
    bad = np.flatnonzero(~((values >= 0) & (values <= 1)))
    if bad.size:
        raise EvalToolkitError(
            f"p has {bad.size} value(s) that are no probability: {listed(values[bad].tolist())}",
            code="bad_p_value",
            path=f"p[{int(bad[0])}]",
            value=float(values[bad[0]]),
        )
    return values
