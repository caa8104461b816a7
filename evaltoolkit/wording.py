"""Sentences and tables for people, composed from the columns of a result; nothing is computed."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from evaltoolkit import formatting as fmt

Row = Mapping[Hashable, Any]

TESTS = {
    "mcnemar_midp": "McNemar mid-p",
    "mcnemar_exact": "McNemar exact",
    "mcnemar_score": "McNemar score",
    "sign_flip": "sign-flip mid-p",
    "sign_flip_exact": "sign-flip",
    "cluster_flip": "cluster sign-flip mid-p",
    "t": "paired t",
    "z": "paired z",
    "cr0_t": "CR0 t",
    "cr1_t": "CR1 t",
    "cr2_t": "CR2 t",
    "cr3_t": "CR3 t",
    "none": "no test",
}
"""Names of tests as people read them, by the value of the column ``test``."""

INTERVALS = {
    "bonett_price": "Bonett\u2013Price",
    "tango": "Tango score",
    "newcombe": "Newcombe",
    "agresti_min": "Agresti\u2013Min",
    "wald": "Wald",
    "t": "paired t",
    "z": "paired z",
    "cr0_t": "CR0 t",
    "cr1_t": "CR1 t",
    "cr2_t": "CR2 t",
    "cr3_t": "CR3 t",
    "bootstrap_percentile": "percentile bootstrap",
    "bootstrap_bca": "BCa bootstrap",
    "bootstrap_t": "bootstrap-t",
    "none": "no interval",
}
"""Names of intervals as people read them, by the value of the column ``interval``."""

_LOSSES = (
    ("n_system_error", "with a system error"),
    ("n_scorer_error", "with a scorer error"),
    ("n_unscored", "unscored"),
    ("n_unpaired", "without a partner"),
)

_VERDICTS = {
    "improved": "improved",
    "regressed": "regressed",
    "equivalent": "is equivalent within the margin",
    "noninferior": "is not inferior beyond the margin",
    "inconclusive": "shows no conclusive change",
    "not_measured": "was not measured",
}


def rows_of(table: pd.DataFrame) -> list[Row]:
    """Give the rows of a table as mappings."""
    return list(table.to_dict(orient="records"))


def label(row: Row) -> str:
    """Name a hypothesis: criterion, then task and scorer where there are several, and slice."""
    name = _one_line(row["criterion"])
    shown = [part for part in ("task", "scorer") if row[f"show_{part}"] and row[part]]
    parts = [_one_line(row[part]) for part in shown]
    if isinstance(row["slice_by"], str):
        parts.append(f"{_one_line(row['slice_by'])} = {_one_line(row['slice'])}")
    return f"{name} ({', '.join(parts)})" if parts else name


def listing(parts: Sequence[str]) -> str:
    """Join parts for prose: commas, and before the last one "and".

    Example:
        >>> listing(["a"]), listing(["a", "b", "c"])
        ('a', 'a, b and c')
    """
    return " and ".join(parts) if len(parts) <= 2 else ", ".join(parts[:-1]) + " and " + parts[-1]


def _one_line(name: object) -> str:
    """Keep a foreign name from breaking the lines that sentences stand on."""
    return " ".join(str(name).split()) or "(no name)"


def lost_text(row: Row) -> str:
    """Say how many examples of a row were left out, and why; empty where none was."""
    parts = [f"{row[name]} {text}" for name, text in _LOSSES if row[name]]
    return ", ".join(parts)


def result_sentence(row: Row, settings: Mapping[str, Any]) -> str:
    """Say the result of one hypothesis so that a sceptical reader can check it."""
    head = f"{label(row)} {_verdict_words(row)}"
    if not row["n_pairs"]:
        return f"{head}: no usable pair ({lost_text(row) or 'no examples'})."
    digits = fmt.decimals_for(float(row["delta"]), float(row["ci_high"]) - float(row["ci_low"]))
    means = [fmt.format_number(float(row[f"mean_{s}"]), decimals=digits) for s in _SIDES]
    imputed = f" ({row['n_imputed']} of them filled in as failures)" if row["n_imputed"] else ""
    parts = [
        f"{_one_line(settings['candidate'])} {means[1]} against "
        f"{_one_line(settings['baseline'])} {means[0]} on "
        f"{fmt.counted(int(row['n_pairs']), 'paired example')}{imputed}",
        f"difference {fmt.format_number(float(row['delta']), decimals=digits, signed=True)}"
        + _direction(row)
        + _evidence(row, settings, digits),
        f"{fmt.counted(int(row['wins']), 'win')}, "
        f"{fmt.counted(int(row['losses']), 'loss', 'losses')}, "
        f"{fmt.counted(int(row['ties']), 'tie')}",
    ]
    left_out = lost_text(row)
    tail = f" Left out: {left_out}." if left_out else ""
    return f"{head}: {'; '.join(parts)}.{_margin(row, settings, digits)}{tail}"


_SIDES = ("baseline", "candidate")


def _verdict_words(row: Row) -> str:
    if row["verdict"] == "not_measured" and row["self_referenced"]:
        return "shows drift, which is not judged without a margin"
    return _VERDICTS[str(row["verdict"])]


def _direction(row: Row) -> str:
    return "" if row["higher_is_better"] else " (lower is better)"


def _evidence(row: Row, settings: Mapping[str, Any], digits: int) -> str:
    parts = []
    level = fmt.format_percent(1 - float(settings["alpha"]))
    if not math.isnan(float(row["ci_low"])):
        interval = fmt.format_interval(float(row["ci_low"]), float(row["ci_high"]), decimals=digits)
        parts.append(f"{level} CI {interval}, {INTERVALS[str(row['interval'])]}")
    if not math.isnan(float(row["p_value"])):
        parts.append(f"{TESTS[str(row['test'])]} {_p('p', float(row['p_value']))}")
        if _adjusted(row):
            parts.append(_p("adjusted p", float(row["p_adjusted"])))
    if row["verdict"] == "inconclusive" and not math.isnan(float(row["mde"])):
        parts.append(f"smallest change seen with 80 % power: {_detectable(row, digits)}")
    return f" ({'; '.join(parts)})" if parts else ""


def _detectable(row: Row, digits: int) -> str:
    mde = float(row["mde"])
    if mde > float(row["upper_bound"]) - float(row["lower_bound"]):
        return "none within the range of the criterion"
    return fmt.format_number(mde, decimals=digits)


def _p(name: str, p: float) -> str:
    text = fmt.format_p(p)
    return f"{name} {text}" if text.startswith("<") else f"{name} = {text}"


def _adjusted(row: Row) -> bool:
    several = str(row["correction"]) not in ("none", "single")
    return several or float(row["p_adjusted"]) != float(row["p_value"])


def _margin(row: Row, settings: Mapping[str, Any], digits: int) -> str:
    if math.isnan(float(row["margin"])) or math.isnan(float(row["margin_low"])):
        return ""
    level = fmt.format_percent(1 - 2 * float(settings["alpha"]))
    interval = fmt.format_interval(
        float(row["margin_low"]), float(row["margin_high"]), decimals=digits
    )
    inside = "inside" if row["within_margin"] is True or row["within_margin"] == 1 else "not inside"
    margin = fmt.format_number(float(row["margin"]), decimals=digits)
    return f" The {level} interval {interval} is {inside} the margin \u00b1{margin}."


def conclusion(
    table: pd.DataFrame, settings: Mapping[str, Any], warnings: Sequence[str] = ()
) -> str:
    """Compose the sentences of `evaltoolkit.results.Comparison.conclusion`."""
    overall = with_flags(table[table["slice_by"].isna()])
    slices = with_flags(table[table["slice_by"].notna()])
    lines = [f"Note: {text}" for text in warnings]
    lines.append(_headline(overall, settings))
    lines += [result_sentence(row, settings) for row in rows_of(overall)]
    if len(slices):
        lines.append(_slices_line(slices, settings))
    return "\n".join(lines)


def _headline(overall: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    counts = {v: int((overall["verdict"] == v).sum()) for v in _VERDICTS}
    said = ", ".join(
        f"{count} {verdict.replace('_', ' ')}" for verdict, count in counts.items() if count
    )
    return (
        f"{_one_line(settings['candidate'])} against {_one_line(settings['baseline'])}: of "
        f"{fmt.counted(len(overall), 'hypothesis', 'hypotheses')} {said or 'none measured'} "
        f"(alpha {settings['alpha']:g}; {_corrections(overall, settings)})."
    )


def _corrections(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    names = list(dict.fromkeys(rows["family"]))
    several = len(names) > 1
    return "; ".join(
        (f"{name}: " if several else "") + correction_text(settings, name) for name in names
    )


def correction_text(settings: Mapping[str, Any], family: str) -> str:
    """Name the correction of a family and its size."""
    facts = settings["families"][family]
    if facts["size"] <= 1:
        return "one hypothesis, no adjustment"
    if facts["correction"] == "none":
        return f"{facts['size']} hypotheses, no adjustment"
    return f"{CORRECTIONS.get(facts['correction'], facts['correction'])} over {facts['size']}"


CORRECTIONS = {
    "maxt": "step-down max-t",
    "maxt_normal": "multivariate normal max-t",
    "maxt+holm": "step-down max-t and Holm in two parts",
    "maxt_normal+holm": "multivariate normal max-t and Holm in two parts",
    "maxt_single": "single-step max-t",
    "maxt_single_normal": "single-step multivariate normal max-t",
    "maxt_single+holm": "single-step max-t and Holm in two parts",
    "maxt_single_normal+holm": "single-step multivariate normal max-t and Holm in two parts",
    "minp": "step-down min-p",
    "minp+holm": "step-down min-p and Holm in two parts",
    "mvt": "multivariate t",
    "hierarchical": "a hierarchy (Bonferroni, then Holm within the slices of a claim)",
    "hochberg": "Hochberg",
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "sidak": "\u0160id\u00e1k",
    "holm-sidak": "Holm\u2013\u0160id\u00e1k",
    "simes-hochberg": "Simes\u2013Hochberg",
    "hommel": "Hommel",
    "storey": "Storey q-values (FDR)",
    "fdr_tsbh": "two-stage Benjamini\u2013Hochberg (FDR)",
    "fdr_tsbky": "two-stage Benjamini\u2013Krieger\u2013Yekutieli (FDR)",
    "fdr_gbs": "adaptive Gavrilov\u2013Benjamini\u2013Sarkar (FDR)",
    "fdr_bh": "Benjamini\u2013Hochberg (FDR)",
    "fdr_by": "Benjamini\u2013Yekutieli (FDR)",
    "none": "no adjustment",
    "single": "no adjustment needed",
}
"""Names of corrections as people read them; others are printed as they are."""


def _slices_line(slices: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    found = slices[slices["verdict"].isin(["improved", "regressed"])]
    names = "; ".join(f"{label(row)} {row['verdict']}" for row in rows_of(found.head(5)))
    more = f" and {len(found) - 5} more" if len(found) > 5 else ""
    return f"Slices (exploratory; {_corrections(slices, settings)}): " + (
        f"{names}{more}." if names else "none stands out after adjustment."
    )


def with_flags(table: pd.DataFrame) -> pd.DataFrame:
    """Mark rows whose label must name the task or the scorer, since there are several."""
    keys = ["task", "criterion", "slice_by", "slice"]
    scorers = table.groupby(keys, dropna=False)["scorer"].transform("nunique") > 1
    return table.assign(show_scorer=scorers, show_task=table["task"].nunique() > 1)


def summary_table(table: pd.DataFrame, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Compose the short table that people read."""
    rows = [_summary_row(row, settings) for row in rows_of(with_flags(table))]
    return pd.DataFrame(rows, columns=list(_summary_columns(settings)))


def _summary_columns(settings: Mapping[str, Any]) -> tuple[str, ...]:
    level = fmt.format_percent(1 - float(settings["alpha"]))
    return (
        "hypothesis",
        "pairs",
        "left out",
        "baseline",
        "candidate",
        "\u0394",
        f"{level} CI",
        "joint CI",
        "win/tie/loss",
        "p",
        "adjusted p",
        "verdict",
    )


def _summary_row(row: Row, settings: Mapping[str, Any]) -> dict[str, object]:
    digits = fmt.decimals_for(float(row["delta"]), float(row["ci_high"]) - float(row["ci_low"]))
    cells = (
        label(row) + ("" if row["higher_is_better"] else " \u2193"),
        int(row["n_pairs"]),
        sum(int(row[name]) for name, _ in _LOSSES),
        fmt.format_number(float(row["mean_baseline"]), decimals=digits),
        fmt.format_number(float(row["mean_candidate"]), decimals=digits),
        fmt.format_number(float(row["delta"]), decimals=digits, signed=True),
        fmt.format_interval(float(row["ci_low"]), float(row["ci_high"]), decimals=digits),
        fmt.format_interval(float(row["joint_low"]), float(row["joint_high"]), decimals=digits),
        f"{row['wins']}/{row['ties']}/{row['losses']}",
        fmt.format_p(float(row["p_value"])),
        fmt.format_p(float(row["p_adjusted"])),
        str(row["verdict"]).replace("_", " "),
    )
    return dict(zip(_summary_columns(settings), cells, strict=True))


def rounded_table(table: pd.DataFrame) -> pd.DataFrame:
    """Write the cells of any tidy table as text: numbers to three digits, p-values as such."""
    return pd.DataFrame({str(name): _cells(str(name), table[name]) for name in table.columns})


def _cells(name: str, values: pd.Series) -> list[str]:
    if pd.api.types.is_float_dtype(values.dtype):
        if name.startswith("p_"):
            return [fmt.format_p(float(v)) for v in values]
        digits = [fmt.decimals_for(float(v)) for v in values]
        return [
            fmt.format_number(float(v), decimals=d) for v, d in zip(values, digits, strict=True)
        ]
    return ["" if pd.isna(v) else str(v) for v in values]


def markdown_table(summary: pd.DataFrame) -> str:
    """Write a small table of text as Markdown."""
    head = [fmt.escape_markdown(name) for name in summary.columns]
    lines = [_pipe(head), _pipe(["---"] * len(head))]
    lines += [_pipe([fmt.escape_markdown(v) for v in row]) for row in summary.to_numpy()]
    return "\n".join(lines) + "\n"


def _pipe(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def latex_table(summary: pd.DataFrame) -> str:
    """Write a small table of text as a LaTeX tabular with booktabs rules."""
    form = "l" + "r" * (len(summary.columns) - 2) + "l"
    head = [fmt.escape_latex(name) for name in summary.columns]
    body = [_amp([fmt.escape_latex(v) for v in row]) for row in summary.to_numpy()]
    lines = [rf"\begin{{tabular}}{{{form}}}", r"\toprule", _amp(head), r"\midrule", *body]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _amp(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def html_block(summary: pd.DataFrame, text: str, warnings: Sequence[str]) -> str:
    """Write warnings, table and sentences as one escaped HTML block."""
    loud = "".join(f"<p><strong>Note:</strong> {fmt.escape_html(w)}</p>" for w in warnings)
    sentences = [line for line in text.splitlines() if not line.startswith("Note: ")]
    prose = "".join(f"<p>{fmt.escape_html(line)}</p>" for line in sentences)
    return f"<div>{loud}{html_table(summary)}{prose}</div>"


def html_table(summary: pd.DataFrame) -> str:
    """Write a small table of text as escaped HTML; a column with sentences is set flush left."""
    rows = summary.to_numpy().tolist()
    sides = [
        " style='text-align:left'" if any(len(str(v)) > _PROSE for v in column) else ""
        for column in (zip(*rows, strict=True) if rows else [()] * len(summary.columns))
    ]
    head = "".join(
        f"<th scope='col'{side}>{fmt.escape_html(name)}</th>"
        for name, side in zip(summary.columns, sides, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{side}>{fmt.escape_html(v)}</td>" for v, side in zip(row, sides, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


_PROSE = 40
"""From so many characters on a cell is read as a sentence."""
