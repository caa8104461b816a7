"""Which of our statistics answers which call of R, on which random data, how closely."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from evaltoolkit import stats
from tests.against_r import draws
from tests.against_r.draws import Arguments

Results = Mapping[str, Any]


class Method(NamedTuple):
    """One statistic in both languages.

    Attributes:
        draw: Draws the arguments of one data set.
        ours: Computes the named results.
        looser: Results that R itself gives less closely than 1e-7, with the relative tolerance.
    """

    draw: Callable[[np.random.Generator], Arguments]
    ours: Callable[[Arguments], Results]
    looser: Mapping[str, float] = {}


def _mean(estimate: stats.MeanEstimate) -> Results:
    names = ("mean", "se", "df", "statistic", "p_value", "low", "high")
    return {name: getattr(estimate, name) for name in names}


def _paired_t(a: Arguments) -> Results:
    return _mean(stats.paired_t(a["candidate"] - a["baseline"], level=a["level"]))


def _welch(a: Arguments) -> Results:
    return _mean(stats.welch(a["baseline"], a["candidate"], level=a["level"]))


def _wilcoxon(a: Arguments, **choices: Any) -> Results:
    test = stats.wilcoxon(a["d"], zeros="wilcox", **choices)
    return {
        "statistic": test.statistic, "p_value": test.p_value, "p_greater": test.p_greater
    }  # fmt: skip


def _wilcoxon_exact(a: Arguments) -> Results:
    return _wilcoxon(a, exact=True)


def _wilcoxon_normal(a: Arguments) -> Results:
    return _wilcoxon(a, exact=False, continuity=bool(a["correct"]))


def _hodges_lehmann(a: Arguments) -> Results:
    return stats.hodges_lehmann(a["d"], level=a["level"])._asdict()


def _cliffs_delta(a: Arguments) -> Results:
    return {"delta": stats.cliffs_delta(a["baseline"], a["candidate"])}


def _mcnemar_score(a: Arguments) -> Results:
    plain = stats.mcnemar_score(a["wins"], a["losses"])
    corrected = stats.mcnemar_score(a["wins"], a["losses"], continuity=True)
    return {
        **plain._asdict(),
        "corrected_statistic": corrected.statistic,
        "corrected_p_value": corrected.p_value,
    }


def _mcnemar_exact(a: Arguments) -> Results:
    exact = stats.mcnemar_exact(a["wins"], a["losses"])
    test = stats.sign_test([1.0] * a["wins"] + [-1.0] * a["losses"] + [0.0] * a["both"])
    assert (test.p_value, test.p_mid) == (exact, stats.mcnemar_midp(a["wins"], a["losses"]))
    return {"p_value": exact, "p_mid": test.p_mid}


def _proportion(a: Arguments) -> Results:
    intervals = {
        "exact": stats.clopper_pearson, "wilson": stats.wilson, "jeffreys": stats.jeffreys
    }  # fmt: skip
    return {
        f"{name}_{end}": limit
        for name, interval in intervals.items()
        for end, limit in interval(a["x"], a["n"], level=a["level"])._asdict().items()
    }


def _two_proportions(a: Arguments) -> Results:
    test = stats.proportions_score_test(a["x"][0], a["n"][0], a["x"][1], a["n"][1])
    return {"squared": test.statistic**2, "p_value": test.p_value}


def _friedman(a: Arguments) -> Results:
    return stats.friedman(np.reshape(a["scores"], (-1, a["systems"])))._asdict()


def _cochran_q(a: Arguments) -> Results:
    return stats.cochran_q(np.reshape(a["passed"], (-1, a["systems"])))._asdict()


def _marginal_homogeneity(a: Arguments) -> Results:
    grades = [float(grade) for grade in range(1, a["grades"] + 1)]
    table = stats.agreement_table(list(a["baseline"]), list(a["candidate"]), grades=grades)
    maxwell = stats.marginal_homogeneity(table)
    bhapkar = stats.marginal_homogeneity(table, method="bhapkar")
    return {
        "maxwell": maxwell.statistic,
        "maxwell_p": maxwell.p_value,
        "bhapkar": bhapkar.statistic,
        "bhapkar_p": bhapkar.p_value,
    }


def _bowker(a: Arguments) -> Results:
    return stats.bowker(np.reshape(a["counts"], (-1, a["grades"])))._asdict()


def _equal_means(a: Arguments) -> Results:
    test = stats.equal_means([a["d"][a["group"] == group] for group in np.unique(a["group"])])
    assert test.test == "welch_f"
    return {name: getattr(test, name) for name in ("statistic", "df1", "df2", "p_value")}


def _adjust(a: Arguments) -> Results:
    names = ("bonferroni", "holm", "hochberg", "hommel", "BH", "BY")
    return {name: stats.adjust(a["p"], method=name) for name in names}


def _combine(a: Arguments) -> Results:
    return {
        "fisher": stats.combine_pvalues(a["p"], method="fisher").p_value,
        "stouffer": stats.combine_pvalues(a["p"], method="stouffer").p_value,
    }


def _power(a: Arguments) -> Results:
    return {"power": stats.power_paired_t(a["difference"], a["sd"], a["n"], alpha=a["alpha"])}


def _n(a: Arguments) -> Results:
    n = stats.n_paired_t(a["difference"], a["sd"], alpha=a["alpha"], power=a["power"])
    return {"n": n}


def _mde(a: Arguments) -> Results:
    se = a["sd"] / np.sqrt(a["n"])
    return {"mde": stats.mde(se, a["n"] - 1, alpha=a["alpha"], power=a["power"])}


def _systems_with_difference(rng: np.random.Generator) -> Arguments:
    """R's quantile has three or four digits only, so its distribution function judges ours."""
    a = draws.many_systems(rng)
    ours = stats.nemenyi_difference(a["systems"], a["tasks"], alpha=a["alpha"])
    return {**a, "ours": ours}


def _nemenyi(a: Arguments) -> Results:
    return {"level": a["alpha"], "difference": a["ours"]}


def _bradley_terry(a: Arguments) -> Results:
    fit = stats.bradley_terry(np.reshape(a["wins"], (-1, a["systems"])))
    return {"ability": fit.ability[1:], "se": fit.se[1:]}


def _anova(a: Arguments) -> Results:
    parts = stats.anova_icc(a["d"], a["cluster"])
    return {"between": parts.between, "within": parts.within}


def _icc(a: Arguments) -> Results:
    found = stats.intraclass_correlations(np.reshape(a["ratings"], (-1, a["judges"])))
    return {name: getattr(found, name) for name in ("icc1", "icc2", "icc3", "icc3k")}


METHODS: Mapping[str, Method] = {
    "paired_t": Method(draws.paired_scores, _paired_t),
    "welch": Method(draws.unpaired_scores, _welch),
    "wilcoxon_exact": Method(draws.few_untied, _wilcoxon_exact),
    "wilcoxon_normal": Method(draws.rating_differences, _wilcoxon_normal),
    "hodges_lehmann_exact": Method(draws.untied_from_10, _hodges_lehmann),
    "hodges_lehmann_normal": Method(draws.untied_above_50, _hodges_lehmann),
    "cliffs_delta": Method(draws.unpaired_ratings, _cliffs_delta),
    "mcnemar_score": Method(draws.paired_cells, _mcnemar_score),
    "mcnemar_exact": Method(draws.paired_cells, _mcnemar_exact),
    "proportion": Method(draws.one_proportion, _proportion),
    "two_proportions": Method(draws.two_proportions, _two_proportions),
    "friedman": Method(draws.systems_by_tasks, _friedman),
    "cochran_q": Method(draws.passes, _cochran_q),
    "marginal_homogeneity": Method(draws.paired_grades, _marginal_homogeneity),
    "bowker": Method(draws.graded_counts, _bowker),
    "equal_means": Method(draws.groups, _equal_means),
    "adjust": Method(draws.p_values, _adjust),
    "combine_pvalues": Method(draws.independent_p_values, _combine),
    "power_paired_t": Method(draws.power_design, _power),
    "n_paired_t": Method(draws.size_design, _n),
    "mde": Method(draws.mde_design, _mde),
    "nemenyi_difference": Method(_systems_with_difference, _nemenyi, {"difference": 1e-3}),
    "bradley_terry": Method(draws.wins, _bradley_terry),
    "anova_icc": Method(draws.clustered, _anova),
    "intraclass_correlations": Method(draws.judged, _icc),
}
"""Name of the method in methods.R and how to ask us the same."""
