"""What a plan says: sentences composed from its table and settings; nothing is computed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from evaltoolkit import formatting as fmt
from evaltoolkit.planning.options import METHODS
from evaltoolkit.wording import Row, rows_of

Settings = Mapping[str, Any]

FEW_PAIRS = 20
_MCNEMAR = ("mcnemar_midp", "mcnemar_exact", "connor")


def conclusion_text(table: pd.DataFrame, settings: Settings) -> str:
    """Answer the question in sentences, one a line."""
    rows = rows_of(table)
    first = [row for row in rows if row["scenario"] == rows[0]["scenario"]]
    upper = [row for row in rows if row["scenario"] == "pilot_upper_80"]
    lines = [
        _answer(first[0], settings),
        _others(first[1:]),
        _test(first, settings),
        _items_or_trials(first, settings),
        _clusters(first[0], settings),
        _uncertainty(first[0], upper[0], settings) if upper else "",
        _losses(first[0], settings),
        *_notes(first),
    ]
    return "\n".join(line for line in lines if line)


def loud_texts(table: pd.DataFrame, settings: Settings) -> tuple[str, ...]:
    """What stands above the plan because a reviewer must know it."""
    texts = []
    if settings["independent"]:
        texts.append(
            "agreement was not given, so the systems are taken to pass independently of one "
            f"another (disagreement {settings['disagreement']:.3g}); systems that are alike agree "
            "more often and need fewer examples"
        )
    pilot = settings["pilot"]
    if pilot and pilot["n_units"] < FEW_PAIRS:
        what = "pairs" if pilot["n_units"] == pilot["n_pairs"] else "clusters"
        texts.append(
            f"the pilot has only {pilot['n_units']} {what}, so its variance is a rough guess; "
            "plan by the upper bound"
        )
    if pilot and pilot["noise_exceeds"]:
        texts.append(
            "the trials of single examples vary more than the differences between examples "
            "allow, so the variance between examples was set to 0; the rows with several trials "
            "are optimistic guesses"
        )
    few = table[(table["n"] < 10) & (table["method"] != "mcnemar_exact")]
    if len(few):
        texts.append(
            f"{fmt.counted(len(few), 'row')} of the plan with fewer than 10 examples: the "
            "formulas rest on large samples or normal differences there"
        )
    return tuple(texts)


def methods_text(table: pd.DataFrame, settings: Settings) -> str:
    """Name every choice of the plan, for a paper or a pre-registration."""
    used = " and ".join(METHODS[name] for name in dict.fromkeys(table["method"]))
    parts = [
        f"{_planned(settings)} ({used}; {_level(settings)}). "
        "The power is that of the difference asked for, not of one that was observed.",
        _source(settings),
    ]
    if not math.isnan(float(settings["variance_between_trials"])):
        parts.append(
            "The variance of one example's difference with K trials was taken as the variance of "
            "expected differences plus the variance between trials of both systems divided by K, "
            "trials of the two systems being independent (Miller, 2024)."
        )
    if settings["cluster_size"] > 1:
        parts.append(
            "Clusters entered by the design effect 1 + (size - 1) × ICC, the ICC rescaled to the "
            "number of trials, and by one degree of freedom less than clusters."
        )
    if set(table["method"]) & set(_MCNEMAR[:2]):
        parts.append(
            "The power of McNemar's test is exact, over all numbers of discordant examples, with "
            "the disagreement held fixed."
        )
    if "simulation" in set(table["method"]):
        parts.append(
            "The pilot's differences, moved to the true difference, were resampled 4,000 times "
            f"(seed {settings['seed']})."
        )
    if not math.isnan(float(settings["disagreement"])) and set(table["method"]) - set(_MCNEMAR):
        parts.append(
            "For the 0/1 outcomes the normal theory stands in where clusters, several trials or "
            "a margin are planned for, with the disagreement as the variance."
        )
    return " ".join(part for part in parts if part)


def _planned(settings: Settings) -> str:
    power = fmt.format_percent(float(settings["power"])) if settings["power"] else ""
    if settings["solved_for"] == "n":
        return f"The number of examples was planned to {_aim(settings)} with {power} power"
    if settings["solved_for"] == "power":
        return f"The power was computed to {_aim(settings)}"
    return f"The smallest difference{_where(settings)} seen with {power} power was computed"


def _answer(row: Row, settings: Settings) -> str:
    design = _design(row)
    power = fmt.format_percent(float(settings["power"])) if settings["power"] else ""
    if settings["solved_for"] == "n":
        return f"To {_aim(settings)} with {power} power, you need {design}."
    if settings["solved_for"] == "power":
        reached = _percent(float(row["power"]))
        return f"With {design}, the power to {_aim(settings)} is {reached}."
    smallest = float(row["difference"])
    if math.isnan(smallest):
        return f"With {design}, no difference is found with {power} power."
    return (
        f"With {design}, the smallest difference{_where(settings)} that is seen with {power} "
        f"power is {_size(smallest)}."
    )


def _aim(settings: Settings) -> str:
    difference, margin = float(settings["difference"]), settings["margin"]
    if margin is None:
        return f"see a difference of {_size(difference)}{_where(settings)}"
    truth = f"if the true difference is {_size(difference)}"
    if settings["method"] == "tost":
        return f"show equivalence within \u00b1{_size(margin)}{_where(settings)}, {truth},"
    return f"show that the candidate is not worse by {_size(margin)}{_where(settings)}, {truth},"


def _where(settings: Settings) -> str:
    pilot = settings["pilot"]
    if not pilot:
        return ""
    names = [_one_line(pilot[key]) for key in ("criterion", "candidate", "baseline")]
    return f" in {names[0]} ({names[1]} against {names[2]})"


def _one_line(name: object) -> str:
    return " ".join(str(name).split()) or "(no name)"


def _size(value: float) -> str:
    return f"{value:.3g}".replace("-", fmt.MINUS)


def _percent(share: float) -> str:
    return "not defined" if math.isnan(share) else f"{100 * share:.1f} %"


def _design(row: Row) -> str:
    examples = fmt.counted(int(row["n"]), "example")
    known = isinstance(row["n_clusters"], int)
    clusters = f" (in {row['n_clusters']:,} clusters)" if known else ""
    return f"{examples}{clusters} \u00d7 {fmt.counted(int(row['trials']), 'trial')}"


def _short(row: Row) -> str:
    design = f"{int(row['n']):,} \u00d7 {int(row['trials'])}"
    if row["solved_for"] == "n":
        return design
    if row["solved_for"] == "power":
        return f"{design}: {_percent(float(row['power']))}"
    return f"{design}: {fmt.format_number(float(row['difference']))}"


def _others(rows: list[Row]) -> str:
    if not rows:
        return ""
    what = "Or" if rows[0]["solved_for"] == "n" else "Other designs"
    return f"{what} (examples \u00d7 trials): {', '.join(map(_short, rows))}."


def _test(rows: list[Row], settings: Settings) -> str:
    names = dict.fromkeys(METHODS[str(row["method"])] for row in rows)
    return f"Test: {', for several trials '.join(names)}; {_level(settings)}."


def _level(settings: Settings) -> str:
    sides = "two-sided" if settings["margin"] is None else "one-sided"
    level = f"{sides} alpha {settings['alpha']:g}"
    if settings["families"] == 1:
        return level
    return (
        f"{level} shared by {settings['families']} criteria, {settings['alpha_per_test']:.3g} each "
        "by Bonferroni, which is cautious: joint correction by max-t needs no more"
    )


def _items_or_trials(rows: list[Row], settings: Settings) -> str:
    noise = settings["noise_share"]
    if math.isnan(noise):
        if settings["pilot"]:
            return (
                "More examples or more trials? The pilot has one trial of each example, so it "
                "cannot say what more trials would bring."
            )
        return ""
    if noise == 0:
        return "More examples or more trials? Trials do not vary, so more of them bring nothing."
    share = f"{100 * noise:.0f} %"
    worth = settings["second_trial_worth"]
    pays = (
        "a second trial pays as soon as an example costs anything to make"
        if worth == 0
        else f"a second trial pays only where making an example costs more than {worth:.3g} "
        "times as much as running it once through both systems"
    )
    return (
        f"More examples or more trials? At one trial, {share} of the variance of a difference is "
        f"noise between trials, which more trials reduce{_range(rows)}. For the same number of "
        f"scores more examples are never worse; {pays}."
    )


def _range(rows: list[Row]) -> str:
    if len(rows) < 2 or rows[0]["solved_for"] != "n":
        return ""
    low, high = rows[0], rows[-1]
    return (
        f": from {int(low['trials'])} to {int(high['trials'])} trials the examples needed go from "
        f"{int(low['n']):,} to {int(high['n']):,} and the scores of each system from "
        f"{int(low['n_scores']):,} to {int(high['n_scores']):,}"
    )


def _clusters(row: Row, settings: Settings) -> str:
    if settings["cluster_size"] <= 1:
        return ""
    return (
        f"Examples come in clusters of about {settings['cluster_size']:.3g} with an intraclass "
        f"correlation of {settings['icc']:.2g}, which multiplies the variance by "
        f"{float(row['design_effect']):.3g} (at {fmt.counted(int(row['trials']), 'trial')})."
    )


def _uncertainty(row: Row, upper: Row, settings: Settings) -> str:
    pilot = settings["pilot"]
    what = "disagreement" if not math.isnan(float(settings["disagreement"])) else "sd"
    values = [float(r["sd"]) ** (2 if what == "disagreement" else 1) for r in (row, upper)]
    then = {
        "n": f"which needs {_design(upper)}",
        "power": f"which leaves {_percent(float(upper['power']))} power",
        "difference": "which makes the smallest difference "
        + fmt.format_number(float(upper["difference"])),
    }[str(row["solved_for"])]
    return (
        f"The pilot's {what} of {values[0]:.3g} comes from {pilot['n_pairs']} pairs and is itself "
        f"uncertain: its upper 80 % bound is {values[1]:.3g}, {then}."
    )


def _losses(row: Row, settings: Settings) -> str:
    pilot = settings["pilot"]
    if not pilot or not pilot["n_lost"] or settings["solved_for"] != "n":
        return ""
    total = pilot["n_lost"] + pilot["n_pairs"]
    return (
        f"{pilot['n_lost']} of {total} examples of the pilot gave no pair; to end with "
        f"{int(row['n']):,}, start with about {pilot['n_to_start'][0]:,}."
    )


def _source(settings: Settings) -> str:
    pilot = settings["pilot"]
    if pilot:
        return (
            f"The spread comes from a pilot of {pilot['n_pairs']} pairs"
            f"{_where(settings)}; the upper 80 % bound is "
            + (
                "Wilson's, of the share of discordant examples."
                if not math.isnan(float(settings["disagreement"]))
                else "the chi-square bound of the variance, for normal differences (Browne, 1995)."
            )
        )
    given = ", ".join(f"{name} {_plain(value)}" for name, value in settings["given"].items())
    return f"The spread was assumed: {given}."


def _plain(value: float | tuple[float, float]) -> str:
    values = value if isinstance(value, tuple) else (value,)
    return " and ".join(f"{each:.4g}" for each in values)


def _notes(rows: list[Row]) -> list[str]:
    """Give each note of the table as a line, with the designs that it is about."""
    about: dict[str, list[str]] = {}
    for row in rows:
        if row["note"]:
            design = f"{int(row['n']):,} \u00d7 {int(row['trials'])}"
            about.setdefault(str(row["note"]), []).append(design)
    return [
        f"{note[0].upper()}{note[1:]}."
        if len(designs) == len(rows)
        else f"At {', '.join(designs)}: {note}."
        for note, designs in about.items()
    ]
