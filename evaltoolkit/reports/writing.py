"""`write_report`: one comparison as a folder of figures, tables and text."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.formatting import escape_html, escape_markdown
from evaltoolkit.plots import Chart, correction_ladder, distributions, paired_deltas
from evaltoolkit.results import Comparison
from evaltoolkit.storage import write_csv
from evaltoolkit.wording import html_table, markdown_table

FIGURES: Mapping[str, Callable[[Comparison], Chart]] = {
    "delta_forest": paired_deltas,
    "distributions": distributions,
    "correction_ladder": correction_ladder,
}

_ACCOUNT = ["task", "criterion", "scorer", "slice_by", "slice", "n_pairs", "n_unpaired",
            "n_unscored", "n_scorer_error", "n_system_error", "n_trials_lost"]  # fmt: skip


@dataclass(frozen=True)
class Report:
    """Where a report was written.

    Attributes:
        folder: The folder.
        files: Every file in it, by name.
    """

    folder: Path
    files: Mapping[str, Path]

    def __repr__(self) -> str:
        return f"Report({str(self.folder)!r}: {', '.join(self.files)})"


def write_report(
    result: Comparison,
    folder: str | Path,
    *,
    title: str | None = None,
    formats: Sequence[str] = ("svg", "pdf", "png"),
) -> Report:
    """Write a comparison as figures, tables and a report in Markdown and HTML.

    The HTML page is one self-contained file. Foreign text (names, outputs) is escaped
    everywhere; in CSV files text that a spreadsheet would run as a formula gets an apostrophe.

    Args:
        result: The comparison.
        folder: Where to write; made if absent, files of the same names are replaced.
        title: Heading of the report.
        formats: Formats of the figures, some of ``svg``, ``pdf``, ``png``.

    Returns:
        The `Report` with the path of every file: ``report.md``, ``report.html``,
        ``results.csv``, ``results.tex``, ``pairs.csv``, ``lost.csv``, ``settings.json`` and the
        figures ``delta_forest``, ``distributions``, ``correction_ladder``.

    Raises:
        EvalToolkitError: An unknown format, or the folder is a file.
    """
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise EvalToolkitError(
            f"{target} is a file; name a folder for the report",
            code="not_a_folder",
            path=str(target),
        )
    target.mkdir(parents=True, exist_ok=True)
    charts = {name: draw(result) for name, draw in FIGURES.items()}
    heading = title or f"{result.candidate} against {result.baseline}"
    written = [
        p for name, chart in charts.items() for p in chart.save(target / name, formats=formats)
    ]
    written += [
        write_csv(result.table, target / "results.csv"),
        write_csv(result.pairs, target / "pairs.csv"),
        write_csv(result.lost, target / "lost.csv"),
        _write(target / "results.tex", result.to_latex()),
        _write(target / "settings.json", _settings(result)),
        _write(target / "report.md", _markdown(result, charts, heading, formats)),
        _write(target / "report.html", _html(result, charts, heading)),
    ]
    return Report(target, {path.name: path for path in written})


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def _settings(result: Comparison) -> str:
    return json.dumps(dict(result.settings), indent=2, ensure_ascii=False, default=str) + "\n"


def _accounting(result: Comparison) -> pd.DataFrame:
    table = result.table[_ACCOUNT]
    empty = [name for name in ("task", "scorer") if not table[name].astype(bool).any()]
    sliced = [] if table["slice_by"].notna().any() else ["slice_by", "slice"]
    return table.drop(columns=[*empty, *sliced]).fillna("")


def _markdown(
    result: Comparison, charts: Mapping[str, Chart], heading: str, formats: Sequence[str]
) -> str:
    shown = next((each for each in ("svg", "png", "pdf") if each in formats), formats[0])
    parts = [f"# {escape_markdown(heading)}", "## Result"]
    parts += [f"> **Note:** {escape_markdown(text)}" for text in result.warnings]
    parts += [f"- {escape_markdown(line)}" for line in _sentences(result)]
    parts.append(result.to_markdown())
    for name, chart in charts.items():
        parts.append(f"![{escape_markdown(chart.alt)}]({name}.{shown})")
        parts.append(f"*{escape_markdown(chart.caption)}*")
    parts += ["## What was counted", markdown_table(_accounting(result))]
    parts += ["## Methods", escape_markdown(result.methods())]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _sentences(result: Comparison) -> list[str]:
    return [line for line in result.conclusion().splitlines() if not line.startswith("Note: ")]


_STYLE = (
    "body{font-family:sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "table{border-collapse:collapse;font-size:.85rem;display:block;overflow-x:auto}"
    "th,td{padding:.25rem .5rem;border-bottom:1px solid #ddd;text-align:left}"
    "figure{margin:1.5rem 0}figcaption{font-size:.85rem;color:#444}"
)


def _html(result: Comparison, charts: Mapping[str, Chart], heading: str) -> str:
    figures = "".join(chart.to_html() for chart in charts.values())
    return (
        "<!DOCTYPE html>\n"
        f'<html lang="en"><head><meta charset="utf-8"><title>{escape_html(heading)}</title>'
        f"<style>{_STYLE}</style></head><body><main><h1>{escape_html(heading)}</h1>"
        f"<h2>Result</h2>{result._repr_html_()}{figures}"
        f"<h2>What was counted</h2>{html_table(_accounting(result))}"
        f"<h2>Methods</h2><p>{escape_html(result.methods())}</p></main></body></html>\n"
    )
