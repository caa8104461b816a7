"""`explore`: choose systems, criteria, slice and correction; forest, table and examples follow."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from evaltoolkit.comparison import compare
from evaltoolkit.errors import EvalToolkitError, EvalToolkitWarning, SchemaError, nearest
from evaltoolkit.formatting import counted, escape_html
from evaltoolkit.plots import paired_deltas
from evaltoolkit.results import Comparison
from evaltoolkit.schema import OUTPUTS, SCORES, normalise
from evaltoolkit.scores import check_scores
from evaltoolkit.widgets.largest_losses import examples_html

if TYPE_CHECKING:
    import ipywidgets as widgets

CORRECTIONS = (
    ("step-down max-t", "maxt"),
    ("Holm", "holm"),
    ("Bonferroni", "bonferroni"),
    ("Benjamini\u2013Hochberg (FDR)", "fdr_bh"),
    ("none", "none"),
)

NO_SLICE = "(no slices)"
SHOWN_EXAMPLES = 5


def explore(
    scores: pd.DataFrame,
    outputs: pd.DataFrame | None = None,
    *,
    baseline: str | None = None,
    candidate: str | None = None,
) -> Explorer:
    """Explore a score table: pick two systems, criteria, a slice and a correction.

    The view shows the delta forest, the table, the sentences and the examples with the largest
    losses beside their outputs. Everything comes from `compare`, and the line of code that makes
    the same result is printed under the controls. Without a kernel, in an exported page, the
    last view stands there as static text and picture.

    Args:
        scores: A score table with at least two systems.
        outputs: The outputs table, to read what the systems said.
        baseline: System to start with; by default the first in the table.
        candidate: System to start with; by default the second.

    Returns:
        An `Explorer`; as the last line of a cell it displays itself.

    Raises:
        SchemaError: Fewer than two systems, or an unknown name.
    """
    return Explorer(scores, outputs, baseline=baseline, candidate=candidate)


class Explorer:
    """The state and the widgets of one exploration.

    Attributes:
        result: The `Comparison` that is shown; None while the choice is not possible.
        controls: The control widgets by name: baseline, candidate, criteria, slice, correction.
        ui: The widget tree.
    """

    def __init__(
        self,
        scores: pd.DataFrame,
        outputs: pd.DataFrame | None = None,
        *,
        baseline: str | None = None,
        candidate: str | None = None,
    ) -> None:
        self._scores = check_scores(scores)
        self._outputs = None if outputs is None else normalise(outputs, OUTPUTS)
        self._seen: dict[tuple[object, ...], Comparison] = {}
        self.result: Comparison | None = None
        systems = list(dict.fromkeys(self._scores["system"]))
        first, second = _starting_pair(systems, baseline, candidate)
        self.controls: dict[str, Any] = _controls(self._scores, systems, first, second)
        self._parts: dict[str, Any] = _views()
        self.ui = _layout(self.controls, self._parts)
        for control in self.controls.values():
            control.observe(self._on_change, names="value")
        self.refresh()

    @property
    def analyses_viewed(self) -> int:
        """How many distinct analyses were looked at so far."""
        return len(self._seen)

    @property
    def code(self) -> str:
        """The call that makes the shown result."""
        choice = ", ".join(f"{name}={value!r}" for name, value in self._choice().items())
        return f"et.compare(scores, {choice})"

    @property
    def status(self) -> str:
        """The line under the controls: an error, or what is shown."""
        return str(self._parts["status"].value)

    def refresh(self) -> None:
        """Compute and show the chosen comparison; on an error keep the last good view."""
        choice = self._choice()
        key = tuple((name, str(value)) for name, value in choice.items())
        try:
            result = self._seen[key] if key in self._seen else self._compute(choice)
        except EvalToolkitError as error:
            still = " (below stands the last comparison that was possible)" if self.result else ""
            self._parts["status"].value = f"<p role='alert'>{escape_html(error)}{still}</p>"
            return
        self._seen[key] = result
        settings = {**result.settings, "analyses_viewed": self.analyses_viewed}
        self.result = Comparison(result.table, result.pairs, result.lost, settings, result.warnings)
        self._show(self.result)

    def _on_change(self, change: Mapping[str, Any]) -> None:
        del change
        self.refresh()

    def _choice(self) -> dict[str, Any]:
        value = {name: control.value for name, control in self.controls.items()}
        by = value["slice"]
        return {
            "baseline": value["baseline"],
            "candidate": value["candidate"],
            "criteria": list(value["criteria"]),
            **({} if by == NO_SLICE else {"by": by}),
            "correction": value["correction"],
        }

    def _compute(self, choice: Mapping[str, Any]) -> Comparison:
        if not choice["criteria"]:
            raise SchemaError("choose at least one criterion", code="no_criteria")
        with warnings.catch_warnings():
            # They stand in the view itself, above the table.
            warnings.simplefilter("ignore", EvalToolkitWarning)
            return compare(self._scores, **choice)

    def _show(self, result: Comparison) -> None:
        parts, sliced = self._parts, bool(result.settings["by"])
        parts["figure"].value = paired_deltas(result, slices=sliced or None).to_html()
        parts["table"].value = result._repr_html_()
        parts["examples"].value = examples_html(result, self._outputs, count=SHOWN_EXAMPLES)
        parts[
            "status"
        ].value = f"<p>{escape_html(_status(result))}</p><pre>{escape_html(self.code)}</pre>"

    def static_html(self) -> str:
        """Give the present view as HTML without widgets, for exported pages."""
        parts = [self._parts[name].value for name in ("status", "figure", "table", "examples")]
        return "<div>" + "".join(parts) + "</div>"

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        del include, exclude
        live = self.ui._repr_mimebundle_()
        data, meta = live if isinstance(live, tuple) else (live, {})
        text = "" if self.result is None else self.result.conclusion()
        return {**data, "text/html": self.static_html(), "text/plain": text}, dict(meta)


def _starting_pair(
    systems: list[str], baseline: str | None, candidate: str | None
) -> tuple[str, str]:
    if len(systems) < 2:
        raise SchemaError(
            f"the table has {counted(len(systems), 'system')}; two are needed to compare. Read "
            "the files of both, or concatenate their tables with pd.concat",
            code="one_system",
        )
    for name in (baseline, candidate):
        if name is not None and name not in systems:
            raise SchemaError(
                f"{name!r} is no system of the table; {nearest(name, systems)}",
                code="unknown_system",
                value=name,
            )
    first = baseline if baseline is not None else next(s for s in systems if s != candidate)
    second = candidate if candidate is not None else next(s for s in systems if s != first)
    return first, second


def _controls(
    scores: pd.DataFrame, systems: list[str], baseline: str, candidate: str
) -> dict[str, widgets.ValueWidget]:
    import ipywidgets as widgets

    criteria = sorted(scores["criterion"].unique())
    attributes = [n for n in SCORES.attributes(scores) if scores[n].nunique() <= 50]
    wide = {"style": {"description_width": "initial"}, "layout": {"width": "320px"}}
    return {
        "baseline": widgets.Dropdown(
            options=systems, value=baseline, description="Baseline", **wide
        ),
        "candidate": widgets.Dropdown(
            options=systems, value=candidate, description="Candidate", **wide
        ),
        "criteria": widgets.SelectMultiple(
            options=criteria,
            value=criteria,
            rows=min(6, len(criteria)),
            description="Criteria",
            **wide,
        ),
        "slice": widgets.Dropdown(
            options=[NO_SLICE, *attributes], value=NO_SLICE, description="Slice by", **wide
        ),
        "correction": widgets.Dropdown(
            options=CORRECTIONS, value="maxt", description="Correction", **wide
        ),
    }


def _views() -> dict[str, widgets.HTML]:
    import ipywidgets as widgets

    return {name: widgets.HTML() for name in ("status", "figure", "table", "examples")}


def _layout(
    controls: Mapping[str, widgets.ValueWidget], parts: Mapping[str, widgets.HTML]
) -> widgets.VBox:
    import ipywidgets as widgets

    row = widgets.Layout(flex_flow="row wrap", align_items="flex-start")
    return widgets.VBox([widgets.Box(list(controls.values()), layout=row), *parts.values()])


def _status(result: Comparison) -> str:
    viewed = result.settings["analyses_viewed"]
    pairs = result.overall["n_pairs"]
    span = f"{pairs.min():,}" if pairs.nunique() <= 1 else f"{pairs.min():,} to {pairs.max():,}"
    return (
        f"{result.candidate} against {result.baseline}: {span} pairs, "
        f"{counted(len(result.overall), 'hypothesis', 'hypotheses')}. "
        f"{counted(viewed, 'distinct analysis', 'distinct analyses')} viewed so far; "
        "each look is a chance to find something by luck."
    )
