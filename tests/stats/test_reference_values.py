"""Every number of `reference_values.json`, computed by the public functions.

The file quotes for each entry which independent programs gave its numbers (R, SciPy, statsmodels,
exact enumeration) and what has been published about it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaltoolkit import stats

ENTRIES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "reference_values.json").read_text(encoding="utf-8")
)["values"]

Data = Mapping[str, Any]
Results = dict[str, Any]
Runner = Callable[[Data], Results]


def difference(data: Data) -> np.ndarray:
    if "delta" in data:
        return np.asarray(data["delta"], dtype=float)
    if "delta_counts" in data:
        counts = data["delta_counts"]
        return np.repeat([float(value) for value in counts], list(counts.values()))
    return stats.snap_ties(data["A"], data["B"])


def mean_of_pairs(data: Data) -> Results:
    t = stats.paired_t(difference(data))
    return {
        "mean_diff": t.mean,
        "t": t.statistic,
        "df": t.df,
        "p": t.p_value,
        "ci_low": t.low,
        "ci_high": t.high,
        "se": t.se,
    }


def normal_mean(data: Data) -> Results:
    z = stats.paired_z(difference(data))
    return {"se": z.se, "ci_low": z.low, "ci_high": z.high}


def flip(data: Data) -> Results:
    test = stats.sign_flip(difference(data), mid_p=False)
    return {"p": test.p_value, "count": test.greater + test.equal, "total": test.total}


def signed_rank(data: Data) -> Results:
    test = stats.wilcoxon(difference(data))
    centre = stats.hodges_lehmann(difference(data))
    return {
        "V": test.statistic,
        "p": test.p_value,
        "p_greater": test.p_greater,
        "hl": centre.estimate,
        "hl_ci_low": centre.low,
        "hl_ci_high": centre.high,
    }


def signed_rank_with_zeros(data: Data) -> Results:
    d = difference(data)
    return {
        "p_exact_zeros_dropped": stats.wilcoxon(d, zeros="wilcox").p_value,
        "p_exact_pratt": stats.wilcoxon(d, zeros="pratt").p_value,
        "p_asym_pratt_nocc": stats.wilcoxon(d, zeros="pratt", exact=False).p_value,
        "p_asym_wilcox_cc": stats.wilcoxon(d, zeros="wilcox", exact=False, continuity=True).p_value,
    }


def signs_only(data: Data) -> Results:
    test = stats.sign_test(difference(data))
    return {"p": test.p_value, "p_midp": test.p_mid}


def paired_binary(data: Data) -> Results:
    both, wins, losses, neither = (data[key] for key in ("n11", "n10_A_only", "n01_B_only", "n00"))
    n = both + wins + losses + neither
    score = stats.mcnemar_score(wins, losses)
    return {
        "diff": (wins - losses) / n,
        "mcnemar_chi2": score.statistic,
        "p_asymptotic": score.p_value,
        "p_cc": stats.mcnemar_score(wins, losses, continuity=True).p_value,
        "p_exact": stats.mcnemar_exact(wins, losses),
        "p_midp": stats.mcnemar_midp(wins, losses),
        "tango": stats.tango(wins, losses, n),
        "newcombe10": stats.newcombe(both, wins, losses, neither),
        "wald": stats.wald_paired(wins, losses, n),
        "agresti_min": stats.agresti_min(wins, losses, n),
        "bonett_price": stats.bonett_price(wins, losses, n),
    }


def degenerate_binary(data: Data) -> Results:
    wins, losses, n = data["b_A_only"], data["c_B_only"], data["n"]
    return {
        "tango": stats.tango(wins, losses, n),
        "bonett_price": stats.bonett_price(wins, losses, n),
        "p_exact": stats.mcnemar_exact(wins, losses),
        "p_midp": stats.mcnemar_midp(wins, losses),
    }


def binary_noninferiority(data: Data) -> Results:
    n = data["n11"] + data["n10_A_only"] + data["n01_B_only"] + data["n00"]
    test = stats.tango_test(data["n10_A_only"], data["n01_B_only"], n, margin=data["margin"])
    return {"z": test.statistic, "p_one_sided": test.p_value}


def proportion(data: Data) -> Results:
    x, n = data["successes"], data["n"]
    return {
        "wilson": stats.wilson(x, n),
        "clopper_pearson": stats.clopper_pearson(x, n),
        "jeffreys": stats.jeffreys(x, n),
    }


def adjusted(method: str) -> Runner:
    def run(data: Data) -> Results:
        p = stats.adjust(data["p"], method=method)
        return {"p_adj": p, "n_reject_05": np.count_nonzero(p <= 0.05)}

    return run


def storey(data: Data) -> Results:
    return stats.storey(data["p"], finite_sample=False)._asdict()


def combined(data: Data) -> Results:
    p = data["p"]
    return {
        "fisher": stats.combine_pvalues(p, method="fisher").p_value,
        "stouffer": stats.combine_pvalues(p, method="stouffer").p_value,
    }


def max_t(data: Data) -> Results:
    joint = stats.max_t(np.transpose(data["delta_by_criterion"]))
    return {
        "abs_t": np.abs(joint.observed),
        "p_raw": joint.p_raw,
        "p_adj": joint.p_step_down,
    }


def max_t_single_step(data: Data) -> Results:
    return {"p_adj": stats.max_t(np.transpose(data["delta_by_criterion"])).p_single_step}


def min_p(data: Data) -> Results:
    return {"p_adj": stats.min_p(np.transpose(data["delta_by_criterion"])).p_step_down}


def critical_values(_: Data) -> Results:
    def value(m: int, rho: float, df: float = math.inf) -> float:
        corr = np.full((m, m), rho) + (1 - rho) * np.eye(m)
        return stats.simultaneous_critical_value(corr, df=df)

    return {
        "m3_rho.5_inf": value(3, 0.5),
        "m5_rho.5_inf": value(5, 0.5),
        "m20_rho.5_inf": value(20, 0.5),
        "m5_rho0_inf": value(5, 0.0),
        "m3_rho.5_df30": value(3, 0.5, 30),
        "m2_rho.5_df20": value(2, 0.5, 20),
    }


def clusters(data: Data) -> Results:
    d, ids = data["delta"], data["cluster"]
    robust = stats.cluster_mean(d, ids)
    return {
        "mean": robust.mean,
        "se_naive": stats.paired_t(d).se,
        **{kind: stats.cluster_mean(d, ids, kind=kind).se for kind in ("CR0", "CR1", "CR2", "CR3")},
        "CR2_df": robust.df,
        "CR2_t": robust.statistic,
        "CR2_p": robust.p_value,
        "CR2_ci": [robust.low, robust.high],
    }


def cluster_correlation(data: Data) -> Results:
    parts = stats.anova_icc(data["delta"], data["cluster"])
    effect = stats.design_effect(data["delta"], data["cluster"])
    return {
        "n0": parts.n0,
        "MSB": parts.between,
        "MSW": parts.within,
        "icc": parts.icc,
        "deff": effect.kish,
        "deff_ratio_CR0": effect.observed,
    }


def equivalence(data: Data) -> Results:
    d = difference(data)
    test = stats.tost_paired(d, low=data["low"], high=data["high"])
    narrow = stats.paired_t(d, level=0.90)
    return {
        "p_low": test.p_low,
        "p_high": test.p_high,
        "p": test.p_value,
        "ci90": [narrow.low, narrow.high],
    }


def effect_sizes(data: Data) -> Results:
    d = difference(data)
    return {
        "d_z": stats.d_z(d),
        "hedges_g_z": stats.hedges_g_z(d),
        "d_av": stats.d_av(data["A"], data["B"]),
        "cliffs_delta": stats.cliffs_delta(data["A"], data["B"]),
        "rank_biserial_paired": stats.rank_biserial(d),
        "prob_superiority_paired": stats.prob_superiority(d),
    }


def rank_effects(data: Data) -> Results:
    a, b = data["hollander_A"], data["hollander_B"]
    return {
        "rb_hollander": stats.rank_biserial(stats.snap_ties(a, b)),
        "cliff_hollander": stats.cliffs_delta(a, b),
        "rb_darwin": stats.rank_biserial(data["darwin_delta"]),
    }


def power_of_t(data: Data) -> Results:
    power, size, smallest = (data["cases"][key] for key in ("power", "n", "mde"))
    return {
        "power": stats.power_paired_t(power["delta"], power["sd"], power["n"]),
        "n": stats.n_paired_t(size["delta"], size["sd"], power=size["power"]),
        "mde": stats.mde(
            smallest["sd"] / math.sqrt(smallest["n"]), smallest["n"] - 1, power=smallest["power"]
        ),
    }


def questions_needed(data: Data) -> Results:
    def n(**variation: Any) -> float:
        return stats.n_questions(0.03, 1 / 9, alpha=data["alpha"], power=data["power"], **variation)

    return {
        "w2=1/9_noresample_d.03": n(),
        "w2=1/9_s2=1/6_K1_d.03": n(trial_variances=(1 / 6, 1 / 6)),
        "w2=1/9_s2=1/6_K10_d.03": n(trial_variances=(1 / 6, 1 / 6), trials=(10, 10)),
    }


def smallest_found(data: Data) -> Results:
    def smallest(trials: int) -> float:
        return stats.mde_questions(
            data["n"],
            data["omega2"],
            trial_variances=(data["sigma2"], data["sigma2"]),
            trials=(trials, trials),
        )

    return {"n198_w2.111_K1": smallest(1), "n198_w2.111_K10": smallest(10)}


def power_of_mcnemar(_: Data) -> Results:
    return {
        "n100_p10.10_p01.05_exact": stats.power_mcnemar(100, 0.10, 0.05, mid_p=False),
        "n100_p10.10_p01.05_midp": stats.power_mcnemar(100, 0.10, 0.05),
        "n300_p10.08_p01.03_midp": stats.power_mcnemar(300, 0.08, 0.03),
    }


def size_for_mcnemar(data: Data) -> Results:
    n = stats.n_mcnemar(data["p10"], data["p01"], alpha=data["alpha"], power=data["power"])
    return {"n": n}


def clash(data: Data) -> Results:
    d = difference(data)
    t, signs = stats.paired_t(d), stats.sign_test(d)
    return {
        "mean": t.mean,
        "t_p": t.p_value,
        "wilcoxon_pratt_p": stats.wilcoxon(d, exact=False).p_value,
        "wilcoxon_zero_drop_p": stats.wilcoxon(d, zeros="wilcox", exact=False).p_value,
        "sign_p": signs.p_value,
        "wins": signs.wins,
        "losses": signs.losses,
        "ties": d.size - signs.wins - signs.losses,
        "rank_biserial": stats.rank_biserial(d),
    }


def components(data: Data) -> Results:
    parts = stats.variance_components(data["values_rows_items_cols_resamples"])
    return {
        "var_item": parts.var_item,
        "var_resample": parts.var_trial,
        "grand_mean": parts.mean,
        "se_mean": parts.se,
        "icc": parts.icc,
    }


def passes(data: Data) -> Results:
    def both(case: str) -> list[float]:
        n, c, k = (int(part[1:]) for part in case.split("_"))
        return [stats.pass_at_k(n, c, k), stats.pass_hat_k(n, c, k)]

    return {case: both(case) for case in data["cases"]}


def ranks_of_systems(data: Data) -> Results:
    test = stats.friedman(data["scores_rows_datasets"], tie_correction=False)
    tasks, systems = np.shape(data["scores_rows_datasets"])
    return {
        "avg_ranks": test.ranks,
        "chi2_no_tie_corr": test.statistic,
        "F_F": test.f_statistic,
        # Over k (k + 1) / 6 tasks the difference is the quantile itself.
        "q_05": stats.nemenyi_difference(systems, 1) / math.sqrt(systems * (systems + 1) / 6),
        "CD_05": stats.nemenyi_difference(systems, tasks),
        "CD_10": stats.nemenyi_difference(systems, tasks, alpha=0.10),
    }


def ranks_with_ties(data: Data) -> Results:
    test = stats.friedman(data["scores_rows_datasets"])
    return {"avg_ranks": test.ranks, "chi2": test.statistic, "p": test.p_value}


def many_binary(data: Data) -> Results:
    test = stats.cochran_q(data["scores"])
    return {"Q": test.statistic, "p": test.p_value}


def abilities(data: Data) -> Results:
    return stats.bradley_terry(data["wins_row_beats_col"])._asdict()


def alpha(data: Data) -> Results:
    ratings = np.array(data["ratings_rows_observers"], dtype=float)
    return {
        measure: stats.krippendorff_alpha(ratings, measure=measure)
        for measure in ("nominal", "ordinal", "interval", "ratio")
    }


def correlations_of_judges(data: Data) -> Results:
    found = stats.intraclass_correlations(data["ratings_rows_targets"])
    return {key.upper().replace("K", "k"): value for key, value in found._asdict().items()}


def two_judges(data: Data) -> Results:
    plain = stats.cohen_kappa(data["table"])
    return {
        "kappa": plain.kappa,
        "kappa_ci": [plain.low, plain.high],
        "linear": stats.cohen_kappa(data["table"], weights="linear").kappa,
        "quadratic": stats.cohen_kappa(data["table"], weights="quadratic").kappa,
    }


def judge_and_human(data: Data) -> Results:
    table = stats.agreement_table(data["judge"], data["human"], grades=[1, 2, 3, 4, 5])
    return {
        "kappa": stats.cohen_kappa(table).kappa,
        "qwk": stats.cohen_kappa(table, weights="quadratic").kappa,
    }


def many_judges(data: Data) -> Results:
    return {"kappa": stats.fleiss_kappa(data["counts_rows_subjects"])}


def dominant_grade(data: Data) -> Results:
    return {
        "ac1": stats.gwet_ac1(data["table"]),
        "observed": stats.cohen_kappa(data["table"]).observed,
    }


def corrected_judge(data: Data) -> Results:
    rate = stats.rogan_gladen(
        data["judge_pass"],
        data["n"],
        sensitivity=data["sensitivity"],
        specificity=data["specificity"],
    )
    return {"corrected": rate.rate, "ci_wilson": [rate.low, rate.high]}


def prediction_powered(data: Data) -> Results:
    human, judge, rest = (data[k] for k in ("human", "judge_labelled", "judge_unlabelled"))
    plain = stats.ppi_mean(human, judge, rest, quantile="normal")
    tuned = stats.ppi_mean(human, judge, rest, quantile="normal", tuned=True)
    return {
        "naive_judge_mean": stats.paired_t(rest).mean,
        "human_only_mean": stats.paired_t(human).mean,
        "ppi": plain.mean,
        "ppi_ci": [plain.low, plain.high],
        "lambda_pp": tuned.weight,
        "ppi_pp": tuned.mean,
        "ppi_pp_ci": [tuned.low, tuned.high],
    }


def anytime(data: Data) -> Results:
    evidence = {f"{b}_{c}": stats.discordant_e_value(b, c) for b, c in data["cases"]}
    return {f"e_{case}": each.e_value for case, each in evidence.items()} | {
        "p_anytime_15_5": evidence["15_5"].p_value
    }


def confidence_sequence(data: Data) -> Results:
    return {
        f"t{n}": stats.confidence_sequence_half_width(
            n, variance=data["sigma2"], tuning=data["rho2"], alpha=data["alpha"]
        )
        for n in data["t"]
    }


def bootstrapped(data: Data) -> Results:
    d = data["delta"]
    methods = ("percentile", "basic", "bca", "studentized")
    intervals = {m: stats.bootstrap_interval(d, method=m, draws=99_999) for m in methods}
    return {"boot_se_exact": stats.bootstrap_se(d), **intervals}


def analytic_bca(data: Data) -> Results:
    return stats.abc_interval(data["delta"])._asdict()


def all_bootstrap_samples(data: Data) -> Results:
    means = stats.exhaustive_means(data["x"])
    low, middle, high = np.quantile(means, [0.025, 0.5, 0.975])
    return {"q025": low, "q500": middle, "q975": high, "sd": stats.bootstrap_se(data["x"])}


def middle_half(data: Data) -> Results:
    return {"iqm": stats.interquartile_mean(data["scores"])}


def share_of_wins(data: Data) -> Results:
    share = stats.win_share(data["b"], data["c"])
    return {"p": share.probability, "ci95": [share.low, share.high]}


def band(data: Data) -> Results:
    return {f"n{n}": stats.ecdf_half_width(n) for n in data["n"]}


def grades(data: Data) -> Results:
    table = data["table_rows_A_cols_B"]
    stuart_maxwell = stats.marginal_homogeneity(table)
    return {
        "stuart_maxwell": stuart_maxwell.statistic,
        "p_sm": stuart_maxwell.p_value,
        "bhapkar": stats.marginal_homogeneity(table, method="bhapkar").statistic,
    }


RUNNERS: dict[str, Runner] = {
    "paired_t_sleep": mean_of_pairs,
    "paired_t_darwin": mean_of_pairs,
    "paired_z_miller_darwin": normal_mean,
    "signflip_exact_darwin": flip,
    "signflip_exact_sleep": flip,
    "wilcoxon_exact_hollander": signed_rank,
    "wilcoxon_exact_darwin": signed_rank,
    "wilcoxon_ties_zero_sleep": signed_rank_with_zeros,
    "sign_test_darwin": signs_only,
    "paired_binary_airway": paired_binary,
    "paired_binary_approval": paired_binary,
    "paired_binary_contact": paired_binary,
    "paired_binary_cavo": paired_binary,
    "paired_binary_altman": paired_binary,
    "paired_binary_small": paired_binary,
    "tango_noninferiority_contact": binary_noninferiority,
    "degenerate_no_discordant_n20": degenerate_binary,
    "degenerate_all_discordant_n10": degenerate_binary,
    "degenerate_two_losses_n20": degenerate_binary,
    "degenerate_n1": degenerate_binary,
    "proportion_81_of_263": proportion,
    "proportion_15_of_148": proportion,
    "proportion_0_of_20": proportion,
    "proportion_1_of_29": proportion,
    "proportion_18_of_20": proportion,
    "proportion_45_of_50": proportion,
    "padjust_bonferroni": adjusted("bonferroni"),
    "padjust_holm": adjusted("holm"),
    "padjust_hochberg": adjusted("hochberg"),
    "padjust_hommel": adjusted("hommel"),
    "padjust_bh": adjusted("bh"),
    "padjust_by": adjusted("by"),
    "padjust_sidak": adjusted("sidak"),
    "padjust_holm_sidak": adjusted("holm-sidak"),
    "storey_q_lambda05": storey,
    "combine_pvalues": combined,
    "westfall_young_maxT_stepdown": max_t,
    "westfall_young_maxT_singlestep": max_t_single_step,
    "westfall_young_minP_stepdown": min_p,
    "simultaneous_critical_values": critical_values,
    "cluster_se_unequal": clusters,
    "anova_icc_design_effect": cluster_correlation,
    "tost_paired_sleep": equivalence,
    "effect_sizes_sleep": effect_sizes,
    "effect_sizes_ranks": rank_effects,
    "power_paired_t": power_of_t,
    "miller_sample_size": questions_needed,
    "miller_mde": smallest_found,
    "power_mcnemar_exact": power_of_mcnemar,
    "n_mcnemar_connor": size_for_mcnemar,
    "estimand_clash_skewed": clash,
    "estimand_clash_zero_dropped": clash,
    "variance_components_dyestuff": components,
    "pass_at_k": passes,
    "friedman_nemenyi_demsar2006": ranks_of_systems,
    "friedman_tie_corrected": ranks_with_ties,
    "cochran_q": many_binary,
    "bradley_terry_citations": abilities,
    "krippendorff_alpha_2011": alpha,
    "icc_shrout_fleiss": correlations_of_judges,
    "cohen_kappa_3x3": two_judges,
    "qwk_ordinal": judge_and_human,
    "fleiss_kappa_wikipedia": many_judges,
    "gwet_ac1_3x3": dominant_grade,
    "rogan_gladen": corrected_judge,
    "ppi_mean": prediction_powered,
    "evalue_discordant": anytime,
    "normal_mixture_cs": confidence_sequence,
    "bootstrap_darwin_large_B": bootstrapped,
    "abc_interval_darwin": analytic_bca,
    "bootstrap_exhaustive_n5": all_bootstrap_samples,
    "iqm": middle_half,
    "bayes_discordant": share_of_wins,
    "dkw_band": band,
    "stuart_maxwell_bhapkar": grades,
}


def computed(entry: dict[str, Any]) -> Results:
    data = {**entry.get("params", {}), **entry["input"]}
    return RUNNERS[entry["id"]](data)


def numbers(expected: Any, got: Any, place: str = "") -> Iterator[tuple[str, float, float]]:
    """Yield place, expected and computed number of everything that is expected."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            yield from numbers(value, got[key], f"{place}.{key}")
    elif isinstance(expected, list):
        assert len(got) == len(expected), place
        for i, value in enumerate(expected):
            yield from numbers(value, got[i], f"{place}[{i}]")
    else:
        yield place, float(expected), float(got)


def close(expected: float, got: float, entry: dict[str, Any]) -> bool:
    relative = 0.0 if entry.get("tol_kind") == "absolute" else entry["tol"]
    return math.isclose(got, expected, rel_tol=relative, abs_tol=entry["tol"])


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry["id"] for entry in ENTRIES])
def test_reference_entry(entry: dict[str, Any]) -> None:
    pairs = list(numbers(entry["expected"], computed(entry)))
    wrong = [
        f"{place}: {got} is not {expected}"
        for place, expected, got in pairs
        if not close(expected, got, entry)
    ]
    assert pairs
    assert not wrong


def test_every_entry_has_a_runner_and_every_runner_an_entry() -> None:
    assert {entry["id"] for entry in ENTRIES} == set(RUNNERS)
    assert len(ENTRIES) == len({entry["id"] for entry in ENTRIES}) == N_ENTRIES


def test_all_numbers_are_compared_and_none_would_pass_one_percent_off() -> None:
    compared, too_blunt = 0, []
    for entry in ENTRIES:
        for place, expected, got in numbers(entry["expected"], computed(entry)):
            compared += 1
            step = max(0.01 * abs(expected), 3 * entry["tol"])
            if close(expected + step, got, entry) or close(expected - step, got, entry):
                too_blunt.append(entry["id"] + place)
    assert compared == N_NUMBERS
    assert not too_blunt


N_ENTRIES, N_NUMBERS = 75, 529
