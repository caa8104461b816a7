"""Small comparisons made by hand: the plots need columns, not a statistical engine."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Annotation, Text

from evaltoolkit.plots import Chart
from evaltoolkit.results import COMPARISON_COLUMNS, Comparison

Criterion = dict[str, Any]
Build = Callable[..., Comparison]

ALPHA = 0.05


def binary(rng: np.random.Generator, n: int, worse: float, better: float) -> Criterion:
    base = (rng.random(n) < 0.6).astype(float)
    lose = (base == 1) & (rng.random(n) < worse)
    win = (base == 0) & (rng.random(n) < better)
    return {"kind": "binary", "baseline": base, "candidate": base - lose + win, "bounds": (0, 1)}


def ratings(rng: np.random.Generator, n: int, shift: float) -> Criterion:
    base = np.clip(np.round(rng.normal(3.8, 0.9, n)), 1, 5)
    step = np.sign(shift) * (rng.random(n) < abs(shift)) + (rng.random(n) < 0.06)
    return {
        "kind": "ordinal",
        "baseline": base,
        "candidate": np.clip(base + step, 1, 5),
        "bounds": (1, 5),
    }


def continuous(rng: np.random.Generator, n: int, size: float, factor: float) -> Criterion:
    base = size * rng.lognormal(0.0, 0.5, n)
    noise = rng.lognormal(0.0, 0.2, n)
    return {"kind": "continuous", "baseline": base, "candidate": base * factor * noise}


def table_row(name: str, given: Mapping[str, Any], size: int) -> dict[str, Any]:
    """Give one row of the table: columns filled by plain formulas, overridden by ``given``."""
    base, cand = given["baseline"], given["candidate"]
    delta = cand - base
    mean = float(delta.mean()) if delta.size else math.nan
    se = float(delta.std(ddof=1) / math.sqrt(delta.size)) if delta.size > 1 else math.nan
    p = math.erfc(abs(mean) / se / math.sqrt(2)) if se and se > 0 else 1.0
    adjusted = min(1.0, p * size)
    higher = bool(given.get("higher", True))
    sign = 1 if higher else -1
    lower, upper = given.get("bounds", (math.nan, math.nan))
    verdict = "inconclusive"
    if not delta.size:
        verdict, p, adjusted = "not_measured", math.nan, math.nan
    elif adjusted <= ALPHA:
        verdict = "improved" if sign * mean > 0 else "regressed"
    row: dict[str, Any] = dict.fromkeys(COMPARISON_COLUMNS, math.nan)
    row |= {
        "task": "",
        "criterion": name,
        "scorer": "",
        "slice_by": None,
        "slice": None,
        "n_pairs": delta.size,
        "n_clusters": 0,
        "n_unscored": 0,
        "n_scorer_error": 0,
        "n_system_error": 0,
        "n_unpaired": 0,
        "n_trials_lost": 0,
        "mean_baseline": base.mean() if delta.size else math.nan,
        "mean_candidate": cand.mean() if delta.size else math.nan,
        "delta": mean,
        "se": se,
        "df": delta.size - 1,
        "ci_low": mean - 1.96 * se,
        "ci_high": mean + 1.96 * se,
        "interval": "bonett_price" if given["kind"] == "binary" else "t",
        "joint_low": mean - 2.8 * se if size > 1 else math.nan,
        "joint_high": mean + 2.8 * se if size > 1 else math.nan,
        "wins": int((sign * delta > 0).sum()),
        "losses": int((sign * delta < 0).sum()),
        "ties": int((delta == 0).sum()),
        "test": "sign_flip",
        "p_value": p,
        "p_adjusted": adjusted,
        "correction": "maxt" if size > 1 else "single",
        "family": "overall",
        "verdict": verdict,
        "note": "",
        "kind": given["kind"],
        "higher_is_better": higher,
        "blocking": True,
        "self_referenced": False,
        "lower_bound": lower,
        "upper_bound": upper,
    }
    return row | given.get("row", {})


def pair_rows(name: str, given: Mapping[str, Any]) -> pd.DataFrame:
    base, cand = given["baseline"], given["candidate"]
    sign = 1 if given.get("higher", True) else -1
    gain = sign * (cand - base)
    topics = np.array(["algebra", "history", "law"])
    return pd.DataFrame(
        {
            "task": given.get("row", {}).get("task", ""),
            "criterion": name,
            "scorer": "",
            "example_id": [str(i) for i in range(base.size)],
            "cluster": None,
            "baseline": base,
            "candidate": cand,
            "delta": cand - base,
            "outcome": np.select([gain > 0, gain < 0], ["win", "loss"], "tie"),
            "n_trials_baseline": 1,
            "n_trials_candidate": 1,
            "n_trials_lost": 0,
            "kind": given["kind"],
            "higher_is_better": bool(given.get("higher", True)),
            "passes_at": 1.0,
            "topic": topics[np.arange(base.size) % 3],
        }
    )


def build(
    criteria: Mapping[str, Criterion],
    *,
    slices: bool = False,
    systems: tuple[str, str] = ("v1", "v2"),
) -> Comparison:
    """Build a comparison from the values of each criterion."""
    size = len(criteria)
    rows = [table_row(name, given, size) for name, given in criteria.items()]
    pairs = pd.concat([pair_rows(*item) for item in criteria.items()], ignore_index=True)
    families = {"overall": {"size": size, "correction": "maxt", "alpha_star": 0.0064}}
    if slices:
        rows += slice_rows(pairs, criteria)
        families["slices"] = {"size": 3 * size, "correction": "fdr_bh", "alpha_star": None}
    margins = {n: g["row"]["margin"] for n, g in criteria.items() if "margin" in g.get("row", {})}
    settings = {
        "baseline": systems[0],
        "candidate": systems[1],
        "alpha": ALPHA,
        "correction": "maxt",
        "seed": 0,
        "draws": 9999,
        "missing": "report",
        "cluster": None,
        "clustered": False,
        "margin": margins,
        "families": families,
        "versions": {"evaltoolkit": "0.1.0"},
    }
    table = pd.DataFrame(rows, columns=list(COMPARISON_COLUMNS))
    return Comparison(table, pairs, pairs.head(0), settings)


def slice_rows(pairs: pd.DataFrame, criteria: Mapping[str, Criterion]) -> list[dict[str, Any]]:
    rows = []
    for (name, topic), part in pairs.groupby(["criterion", "topic"], sort=False):
        values = {side: part[side].to_numpy() for side in ("baseline", "candidate")}
        given = {**criteria[str(name)], **values, "row": {}}
        row = table_row(str(name), given, 3 * len(criteria))
        nothing = {"joint_low": math.nan, "joint_high": math.nan, "correction": "fdr_bh"}
        rows.append(row | nothing | {"slice_by": "topic", "slice": topic, "family": "slices"})
    return rows


def eight() -> dict[str, Criterion]:
    """Eight criteria on one scale, with gains, losses, and one that never differs."""
    rng = np.random.default_rng(7)
    plan = {
        "correctness": (0.02, 0.45),
        "groundedness": (0.02, 0.4),
        "completeness": (0.05, 0.3),
        "conciseness": (0.1, 0.15),
        "helpfulness": (0.12, 0.16),
        "format": (0.2, 0.15),
        "tone": (0.35, 0.05),
    }
    made = {name: binary(rng, 120, *rates) for name, rates in plan.items()}
    same = (rng.random(120) < 0.9).astype(float)
    made["safety"] = {"kind": "binary", "baseline": same, "candidate": same, "bounds": (0, 1)}
    flat = {"ci_low": -0.031, "ci_high": 0.031, "joint_low": math.nan, "joint_high": math.nan}
    made["safety"]["row"] = flat
    made["tone"]["row"] = {"n_system_error": 3, "n_pairs": 117}
    return made


def mixed() -> dict[str, Criterion]:
    """Criteria whose scales have nothing in common."""
    rng = np.random.default_rng(11)
    return {
        "exact_match": binary(rng, 80, 0.05, 0.4),
        "refusal": {**binary(rng, 80, 0.3, 0.02), "higher": False},
        "judge.helpfulness": ratings(rng, 80, 0.3),
        "judge.tone": ratings(rng, 80, -0.25),
        "latency_s": {**continuous(rng, 80, 1.7, 0.8), "higher": False},
        "tokens_out": {**continuous(rng, 80, 8200.0, 1.3), "higher": False},
        "f1": {
            "kind": "continuous",
            "baseline": rng.beta(5, 2, 80),
            "candidate": rng.beta(5.5, 2, 80),
        },
    }


def forty() -> dict[str, Criterion]:
    rng = np.random.default_rng(3)
    return {f"criterion_{i:02d}": binary(rng, 150, *rng.uniform(0.02, 0.35, 2)) for i in range(40)}


HOSTILE_NAMES = (
    r"accuracy_$\frac{1}{0}$ {unclosed \x^2_",
    "judge.helpfulness.overall.strictly_following_the_rubric_version_2024_11_without_reference",
    "judge.helpfulness.overall.strictly_following_the_rubric_version_2024_11_with_reference",
    "דיוק התשובה",
    "دقة الإجابة",
    "中文准确率",
    "<script>alert(1)</script>",
    "tower a" + "\u0301" * 40,
    "override \u202ecod.exe\u202c\x00\x07",
    "W" * 300,
    "line\nbreak\ttab",
)


def hostile() -> dict[str, Criterion]:
    rng = np.random.default_rng(5)
    return {name: binary(rng, 90, *rng.uniform(0.05, 0.4, 2)) for name in HOSTILE_NAMES}


@pytest.fixture(name="build")
def build_fixture() -> Build:
    """``build(criteria, slices=False, systems=("v1", "v2"))`` makes a comparison by hand."""
    return build


@pytest.fixture
def usual() -> Comparison:
    return build(eight())


@pytest.fixture
def scales_mixed() -> Comparison:
    return build(mixed())


@pytest.fixture
def many() -> Comparison:
    return build(forty())


@pytest.fixture
def sliced() -> Comparison:
    chosen = {name: eight()[name] for name in ("correctness", "tone", "format")}
    return build(chosen, slices=True)


@pytest.fixture
def one() -> Comparison:
    return build({"exact_match": eight()["correctness"]})


@pytest.fixture
def awkward() -> Comparison:
    """Margins that differ, intervals that are missing or endless, one criterion without pairs."""
    given = eight()
    for name, criterion in given.items():
        criterion.setdefault("row", {})["margin"] = 0.05 if name == "tone" else 0.1
    given["format"]["row"]["margin"] = math.nan
    given["completeness"]["row"] |= {"joint_low": -math.inf, "joint_high": math.inf}
    missing = dict.fromkeys(("ci_low", "ci_high", "joint_low", "joint_high"), math.nan)
    given["conciseness"]["row"] |= missing
    none = np.array([])
    given["unscored"] = {"kind": "binary", "baseline": none, "candidate": none, "bounds": (0, 1)}
    return build(given)


@pytest.fixture
def with_outlier() -> Comparison:
    """One row of eight reaches ten times as far as the others."""
    given = eight()
    far = {"delta": 2.5, "ci_low": 2.0, "ci_high": 3.0, "joint_low": 1.5, "joint_high": 3.5}
    given["format"]["row"] = far
    return build(given)


@pytest.fixture
def named_to_hurt() -> Comparison:
    return build(
        hostile(), systems=("base_$x$ \\{ \ud800", "\u202eevil <b>candidate</b> " + "long" * 30)
    )


class Drawn:
    """A chart after drawing: the boxes of its texts, in pixels."""

    def __init__(self, chart: Chart) -> None:
        canvas = FigureCanvasAgg(chart.figure)
        canvas.draw()
        self.chart = chart
        self.boxes = [
            (text, tuple(text.get_window_extent(canvas.get_renderer()).extents))
            for text in chart.figure.findobj(Text)
            if text.get_visible() and text.get_text()
        ]

    @property
    def words(self) -> list[str]:
        return [text.get_text() for text, _ in self.boxes]

    def cells(self) -> list[str]:
        """Texts of the gutter, which are the annotations that stand in a row."""
        return [
            text.get_text()
            for text, _ in self.boxes
            if isinstance(text, Annotation) and text.xycoords == ("axes fraction", "data")
        ]

    def outside(self) -> list[str]:
        width, height = self.chart.figure.bbox.size
        return [
            text.get_text()
            for text, (left, bottom, right, top) in self.boxes
            if left < -1 or bottom < -1 or right > width + 1 or top > height + 1
        ]

    def overlapping(self) -> list[tuple[str, str]]:
        """Pairs of texts that cover each other by more than the slack of a line box."""
        return [
            (one.get_text(), other.get_text())
            for i, (one, box) in enumerate(self.boxes)
            for other, second in self.boxes[i + 1 :]
            if covers(box, second)
        ]


def covers(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    # Boxes of lines have empty space above and below their letters.
    return width > 1 and height > 0.25 * min(one[3] - one[1], other[3] - other[1])


@pytest.fixture
def drawn() -> Callable[[Chart], Drawn]:
    """``drawn(chart)`` gives the boxes of its texts."""
    return Drawn
