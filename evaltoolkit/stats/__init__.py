"""The statistics of paired comparisons: arrays in, small named tuples of numbers out.

Nothing here knows a table, a file or a figure. The sign convention is the same everywhere: a
difference is candidate - baseline.
"""

from __future__ import annotations

from evaltoolkit.stats.bayes import WinShare, dirichlet_interval, win_share
from evaltoolkit.stats.binary import (
    Intervals,
    PairedCounts,
    agresti_min,
    bonett_price,
    mcnemar_exact,
    mcnemar_midp,
    mcnemar_score,
    newcombe,
    paired_counts,
    wald_paired,
)
from evaltoolkit.stats.bootstrap import (
    Resamples,
    abc_interval,
    bootstrap_interval,
    bootstrap_intervals,
    bootstrap_se,
    exhaustive_means,
    resampled_means,
)
from evaltoolkit.stats.clusters import (
    ClusterVariance,
    DesignEffect,
    anova_icc,
    cluster_mean,
    design_effect,
    satterthwaite_df,
)
from evaltoolkit.stats.critical import simultaneous_critical_value
from evaltoolkit.stats.differences import lattice_step, merge_near, snap, snap_ties
from evaltoolkit.stats.discordance import power_mcnemar
from evaltoolkit.stats.effects import (
    cliffs_delta,
    cohens_g,
    d_av,
    d_z,
    hedges_g_z,
    prob_superiority,
    rank_biserial,
)
from evaltoolkit.stats.equivalence import noninferiority, tost, tost_paired
from evaltoolkit.stats.flips import FlipTest, cluster_flip, sign_flip
from evaltoolkit.stats.graded import bowker, marginal_homogeneity
from evaltoolkit.stats.group_tests import (
    GroupMeans,
    GroupTest,
    equal_cluster_means,
    equal_means,
    group_means,
    no_group_test,
)
from evaltoolkit.stats.judges import CorrectedRate, JudgeMean, ppi_mean, rogan_gladen
from evaltoolkit.stats.maxt import MaxT, MinP, max_normal, max_t, min_p
from evaltoolkit.stats.multiplicity import (
    ALIASES,
    METHODS,
    Method,
    StoreyQ,
    adjust,
    combine_pvalues,
    method_name,
    storey,
)
from evaltoolkit.stats.multivariate_t import JointT, joint_t
from evaltoolkit.stats.paired import mean_estimate, paired_t, paired_z, t_interval
from evaltoolkit.stats.power import (
    mde,
    mde_questions,
    n_mcnemar,
    n_paired_t,
    n_questions,
    power_paired_t,
    power_t,
)
from evaltoolkit.stats.proportions import clopper_pearson, jeffreys, wilson
from evaltoolkit.stats.rankings import (
    BradleyTerry,
    Friedman,
    bradley_terry,
    cochran_q,
    friedman,
    nemenyi_difference,
)
from evaltoolkit.stats.ranks import (
    HodgesLehmann,
    SignTest,
    Wilcoxon,
    hodges_lehmann,
    sign_test,
    signed_ranks,
    wilcoxon,
)
from evaltoolkit.stats.raters import (
    IntraclassCorrelations,
    Kappa,
    agreement_table,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    intraclass_correlations,
    krippendorff_alpha,
)
from evaltoolkit.stats.score_interval import (
    Equivalence,
    tango,
    tango_equivalence,
    tango_score,
    tango_test,
)
from evaltoolkit.stats.sequential import (
    AnytimeEvidence,
    confidence_sequence_half_width,
    discordant_e_value,
)
from evaltoolkit.stats.shrinkage import EffectSpread, Shrunken, effect_spread, shrink_effects
from evaltoolkit.stats.summaries import ecdf_half_width, interquartile_mean
from evaltoolkit.stats.trials import VarianceComponents, pass_at_k, pass_hat_k, variance_components
from evaltoolkit.stats.types import Floats, Interval, MeanEstimate, Significance
from evaltoolkit.stats.unpaired import newcombe_unpaired, proportions_score_test, welch

__all__ = [
    "ALIASES",
    "METHODS",
    "AnytimeEvidence",
    "BradleyTerry",
    "ClusterVariance",
    "CorrectedRate",
    "DesignEffect",
    "EffectSpread",
    "Equivalence",
    "FlipTest",
    "Floats",
    "Friedman",
    "GroupMeans",
    "GroupTest",
    "HodgesLehmann",
    "Interval",
    "Intervals",
    "IntraclassCorrelations",
    "JointT",
    "JudgeMean",
    "Kappa",
    "MaxT",
    "MeanEstimate",
    "Method",
    "MinP",
    "PairedCounts",
    "Resamples",
    "Shrunken",
    "SignTest",
    "Significance",
    "StoreyQ",
    "VarianceComponents",
    "Wilcoxon",
    "WinShare",
    "abc_interval",
    "adjust",
    "agreement_table",
    "agresti_min",
    "anova_icc",
    "bonett_price",
    "bootstrap_interval",
    "bootstrap_intervals",
    "bootstrap_se",
    "bowker",
    "bradley_terry",
    "cliffs_delta",
    "clopper_pearson",
    "cluster_flip",
    "cluster_mean",
    "cochran_q",
    "cohen_kappa",
    "cohens_g",
    "combine_pvalues",
    "confidence_sequence_half_width",
    "d_av",
    "d_z",
    "design_effect",
    "dirichlet_interval",
    "discordant_e_value",
    "ecdf_half_width",
    "effect_spread",
    "equal_cluster_means",
    "equal_means",
    "exhaustive_means",
    "fleiss_kappa",
    "friedman",
    "group_means",
    "gwet_ac1",
    "hedges_g_z",
    "hodges_lehmann",
    "interquartile_mean",
    "intraclass_correlations",
    "jeffreys",
    "joint_t",
    "krippendorff_alpha",
    "lattice_step",
    "marginal_homogeneity",
    "max_normal",
    "max_t",
    "mcnemar_exact",
    "mcnemar_midp",
    "mcnemar_score",
    "mde",
    "mde_questions",
    "mean_estimate",
    "merge_near",
    "method_name",
    "min_p",
    "n_mcnemar",
    "n_paired_t",
    "n_questions",
    "nemenyi_difference",
    "newcombe",
    "newcombe_unpaired",
    "no_group_test",
    "noninferiority",
    "paired_counts",
    "paired_t",
    "paired_z",
    "pass_at_k",
    "pass_hat_k",
    "power_mcnemar",
    "power_paired_t",
    "power_t",
    "ppi_mean",
    "prob_superiority",
    "proportions_score_test",
    "rank_biserial",
    "resampled_means",
    "rogan_gladen",
    "satterthwaite_df",
    "shrink_effects",
    "sign_flip",
    "sign_test",
    "signed_ranks",
    "simultaneous_critical_value",
    "snap",
    "snap_ties",
    "storey",
    "t_interval",
    "tango",
    "tango_equivalence",
    "tango_score",
    "tango_test",
    "tost",
    "tost_paired",
    "variance_components",
    "wald_paired",
    "welch",
    "wilcoxon",
    "wilson",
    "win_share",
]
