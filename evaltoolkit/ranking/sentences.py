"""What a ranking says in words: its conclusion, its methods, its warnings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit.errors import listed
from evaltoolkit.wording import CORRECTIONS, INTERVALS, TESTS, Row, rows_of

FEW_DF = 5.0
"""Below this many degrees of freedom cluster-robust inference is fragile."""

Settings = Mapping[str, Any]

_TEST_NAMES = {
    "friedman": "Friedman \u03c7\u00b2",
    "iman_davenport": "Iman\u2013Davenport F",
    "cochran_q": "Cochran's Q",
}
_GAPS = (
    ("n_system_error", "system error"),
    ("n_scorer_error", "scorer error"),
    ("n_unscored", "unscored"),
    ("n_absent", "absent"),
)


def plain(name: object) -> str:
    """Keep a foreign name from breaking the lines that sentences stand on."""
    return " ".join(str(name).split()) or "(no name)"


def top_sentence(table: pd.DataFrame, pairs: pd.DataFrame, settings: Settings) -> str:
    """Say whether the top is separated from the rest."""
    leaders = [plain(name) for name in table.loc[table["rank"] == 1, "system"]]
    first, family = _first(leaders, rows_of(table)[0], settings), family_text(settings)
    if not settings["leader_separated"]:
        return (
            f"The ranking is not decisive: {first}, but no system is significantly worse "
            f"({family})."
        )
    if not settings["decisive"]:
        count = fmt.counted(int(pairs["significant"].sum()), "pair is", "pairs are")
        return (
            f"The ranking is not decisive: {settings['overall_text']} does not reject that all "
            f"systems are equal, although {count} significant ({family}); {first}."
        )
    open_top = [plain(n) for n in table.loc[table["rank_low"] == 1, "system"]]
    others = [name for name in open_top if name not in leaders]
    if others:
        verb = "is" if len(others) == 1 else "are"
        return (
            f"The top is not decided: {first}, but {_some(others)} {verb} not significantly "
            f"worse ({family})."
        )
    if len(leaders) > 1:
        return f"The top is not decided: {first}, all others are significantly worse ({family})."
    return f"{first} and is significantly better than every other system ({family})."


def _first(leaders: list[str], row: Row, settings: Settings) -> str:
    if len(leaders) == 1:
        return f"{leaders[0]} comes first ({_estimate(row, settings)})"
    return f"{_some(leaders)} share the first place ({_estimate(row, settings)})"


def _some(names: list[str], limit: int = 5) -> str:
    shown = ", ".join(names[:limit])
    more = len(names) - limit
    return f"{shown} and {more} more" if more > 0 else shown


def _estimate(row: Row, settings: Settings) -> str:
    what = str(settings["estimate"])
    value, low, high = float(row[what]), float(row["ci_low"]), float(row["ci_high"])
    digits = fmt.decimals_for(value if math.isnan(low) else high - low)
    text = f"{what} {fmt.format_number(value, decimals=digits)}"
    if math.isnan(low):
        return text
    level = fmt.format_percent(1 - float(settings["alpha"]))
    return f"{text}, {level} CI {fmt.format_interval(low, high, decimals=digits)}"


def family_text(settings: Settings) -> str:
    """Name the correction and the number of distinct pairs that it covers."""
    size, used = settings["family_size"], str(settings["correction_used"])
    alpha = f"alpha {settings['alpha']:g}"
    if size <= 1:
        return f"one distinct pair, {alpha}"
    return f"{CORRECTIONS.get(used, used)} over {size} pairs, {alpha}"


def pairs_sentence(pairs: pd.DataFrame, settings: Settings) -> str:
    """Count the pairs that differ."""
    found, all_of = int(pairs["significant"].sum()), len(pairs)
    return (
        f"{found} of {fmt.counted(all_of, 'pair')} "
        f"{'differs' if found == 1 else 'differ'} significantly ({family_text(settings)})."
    )


def test_text(row: Row) -> str:
    """Write one overall test."""
    df = f"{row['df']:g}" + ("" if math.isnan(row["df2"]) else f" and {row['df2']:g}")
    p = fmt.format_p(float(row["p_value"]))
    p = f"p {p}" if p.startswith("<") else f"p = {p}"
    return f"{_TEST_NAMES[str(row['test'])]} = {row['statistic']:.4g} (df {df}, {p})"


def tests_sentence(tests: pd.DataFrame, settings: Settings) -> str:
    """List the overall tests that apply, and Nemenyi's critical difference."""
    known = tests[tests["test"].isin(list(_TEST_NAMES)) & tests["p_value"].notna()]
    if (known["test"] == "cochran_q").any():
        # On 0/1 scores Friedman's statistic, corrected for ties, is Cochran's Q.
        known = known[known["test"] == "cochran_q"]
    parts = [test_text(row) for row in rows_of(known)]
    nemenyi = tests.loc[tests["test"] == "nemenyi", "critical_difference"]
    if nemenyi.notna().any():
        parts.append(
            f"mean ranks that differ by {float(nemenyi.iloc[0]):.3g} or more differ by "
            f"Nemenyi's test at alpha {settings['alpha']:g}"
        )
    return f"All systems at once: {'; '.join(parts)}." if parts else ""


def gaps_sentence(table: pd.DataFrame, settings: Settings) -> str:
    """Say what was left out, and by which systems."""
    left = int(settings["n_left_out"])
    if not left:
        return ""
    gaps = [f"{plain(row['system'])} ({text})" for row in rows_of(table) if (text := _gaps(row))]
    total = left + int(table["n_examples"].iloc[0])
    return (
        f"Left out: {left} of {fmt.counted(total, 'example')}, which not all systems have scored: "
        f"{_some(gaps)}."
    )


def _gaps(row: Row) -> str:
    return ", ".join(f"{row[name]} {text}" for name, text in _GAPS if row[name])


def conclusion(
    table: pd.DataFrame, pairs: pd.DataFrame, tests: pd.DataFrame, settings: Settings
) -> str:
    """Compose the conclusion of `evaltoolkit.ranking.rank`."""
    direction = "" if settings["higher_is_better"] else " (lower is better)"
    n = fmt.counted(int(table["n_examples"].iloc[0]), "example")
    head = (
        f"{len(table)} systems ranked by {plain(settings['criterion'])}{direction} on {n} that "
        "all of them have scored."
    )
    lines = [
        head,
        top_sentence(table, pairs, settings),
        pairs_sentence(pairs, settings),
        tests_sentence(tests, settings),
        gaps_sentence(table, settings),
    ]
    return "\n".join(line for line in lines if line)


_MISSING = {
    "report": "Examples that some system had not scored were left out and counted by cause.",
    "worst": "A system without a scored trial on an example took the worse bound of the "
    "criterion there.",
    "as_failure": "A system error took the worse bound of the criterion; other examples that "
    "some system had not scored were left out and counted by cause.",
}


def methods(table: pd.DataFrame, pairs: pd.DataFrame, settings: Settings) -> str:
    """Compose the paragraph on methods of `evaltoolkit.ranking.rank`."""
    level = fmt.format_percent(1 - float(settings["alpha"]))
    own = {"wilson": "Wilson", "t": "t", "cr2_t": "CR2 t (cluster-robust)"}
    sentences = [
        f"{len(table)} systems were ranked by their mean of {settings['criterion']} over the "
        f"{int(table['n_examples'].iloc[0])} examples that all of them have scored, equally "
        "weighted, each the mean of its scored trials.",
        _MISSING[str(settings["missing"])],
        f"Means have {level} {own[str(table['interval'].iloc[0])]} intervals.",
        f"All {len(pairs)} pairs were compared on the same examples: {level} "
        f"{INTERVALS[str(pairs['interval'].iloc[0])]} intervals of the mean difference, two-sided "
        f"p-values from the {' and '.join(TESTS[t] for t in sorted(set(pairs['test'])))} test, "
        f"adjusted by {family_text(settings)}.",
        _correction_note(settings),
        rank_interval_note(settings),
        _symmetry_note(pairs),
        _cluster_note(settings),
        _overall_note(settings),
        f"Computed with evaltoolkit {settings['versions']['evaltoolkit']} (seed "
        f"{settings['seed']}, {settings['draws']:,} random sign flips where not exact).",
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _correction_note(settings: Settings) -> str:
    return f"({settings['correction_note']}.)" if settings["correction_note"] else ""


def rank_interval_note(settings: Settings) -> str:
    """Say what a rank interval is, and how sure it is under the correction."""
    text = (
        "A system's rank lies between one plus the number of systems that are significantly "
        "better and the number of systems less those that are significantly worse"
    )
    if settings["controls"] == "fwer":
        level = fmt.format_percent(1 - float(settings["alpha"]))
        return (
            f"{text}; these rank intervals hold for all systems together with {level} "
            "confidence, as far as the tests of the pairs keep their level."
        )
    return f"{text}; under this correction the rank intervals carry no joint confidence."


def _symmetry_note(pairs: pd.DataFrame) -> str:
    if not pairs["test"].isin(["sign_flip", "cluster_flip"]).any():
        return ""
    return (
        "Sign-flip tests assume differences symmetric about zero under the null hypothesis, "
        "which is more than a zero mean."
    )


def _overall_note(settings: Settings) -> str:
    if settings["clustered"]:
        return ""
    return (
        "Overall tests: Friedman's with correction for ties, Iman and Davenport's F, Nemenyi's "
        "critical difference, and Cochran's Q for 0/1 scores, where they apply; the rank tests "
        "compare ranks within examples, not means."
    )


def _cluster_note(settings: Settings) -> str:
    if not settings["clustered"]:
        return ""
    return (
        f"Examples of one {settings['cluster']} were treated as dependent (CR2 standard errors "
        "with Satterthwaite degrees of freedom); overall rank tests, which need independent "
        "examples, were left out."
    )


def ranking_warnings(
    table: pd.DataFrame, pairs: pd.DataFrame, settings: Settings, *, few: int
) -> Iterator[str]:
    """Find what a reader of a ranking must know first."""
    left = int(settings["n_left_out"])
    if left:
        gaps = table.set_index("system")[[name for name, _ in _GAPS]].sum(axis=1)
        worst = gaps.idxmax()
        yield (
            f"{fmt.counted(left, 'example is', 'examples are')} left out, since not all systems "
            f"have scored them (most gaps: {plain(worst)!r}, {int(gaps.max())}); the ranking "
            "holds for the rest"
        )
    alike = pairs[(pairs["wins"] == 0) & (pairs["losses"] == 0)]
    if len(alike):
        names = [f"{plain(r['system_a'])} = {plain(r['system_b'])}" for r in rows_of(alike)]
        yield (
            f"{fmt.counted(len(alike), 'pair scores', 'pairs score')} the same on every example "
            f"({listed(names)}); check that these are different systems"
        )
    moved = pairs["wins"] + pairs["losses"]
    fragile = pairs[(moved > 0) & (moved < few)]
    if len(fragile):
        yield (
            f"{fmt.counted(len(fragile), 'pair has', 'pairs have')} fewer than {few} non-zero "
            "differences: intervals and p-values of a mean are fragile there"
        )
    if settings["clustered"] and not settings["df_clusters"] >= FEW_DF:
        yield (
            f"{settings['n_clusters']} clusters of such sizes carry only "
            f"{settings['df_clusters']:.1f} degrees of freedom: cluster-robust intervals are wide "
            "and fragile; more clusters, not more examples, help"
        )
    if settings["smallest_p"] > settings["alpha"]:
        yield (
            f"with {settings['n_clusters']} {'clusters' if settings['clustered'] else 'examples'} "
            f"no pair can reach alpha {settings['alpha']:g} after adjustment (the smallest "
            f"possible adjusted p-value is {fmt.format_p(settings['smallest_p'])}); more of them, "
            "or fewer systems, are needed"
        )
    if settings["correction_used"] == "none" and len(pairs) > 1:
        yield f"{len(pairs)} pairs are compared without correction, so some differ by chance"


def digest_warnings(rows: pd.DataFrame) -> Iterator[str]:
    """Find examples that were put to the systems with different inputs."""
    if "input_digest" not in rows.columns:
        return
    given = rows[rows["input_digest"].notna()]
    changed = int((given.groupby(["task", "example_id"])["input_digest"].nunique() > 1).sum())
    if changed:
        yield (
            f"{fmt.counted(changed, 'example was', 'examples were')} put to the systems with "
            "different inputs (input_digest differs): the ranking compares prompts or data as "
            "well as systems"
        )
