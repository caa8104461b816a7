"""`length_bias`: do a judge's scores go with the length of the answers?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from evaltoolkit import stats
from evaltoolkit.errors import PairingError, warn
from evaltoolkit.judging import length_texts as texts
from evaltoolkit.judging.length_joins import Measured, compared, measured_outputs, rated
from evaltoolkit.judging.length_models import pairwise_row, rate_rows, rating_row
from evaltoolkit.judging.preferences import PAIR, pairwise_rows, selected_rows
from evaltoolkit.judging.selection import block_codes, independent_clusters, versions
from evaltoolkit.results.biases import LengthBias
from evaltoolkit.stats.checks import fraction

_SERIES = ["criterion", "scorer"]
_COUNTS = ("n", "n_used", "n_blocks", "n_not_scored", "n_no_output", "n_empty")
_TEXT = ("criterion", "scorer", "model", "system_a", "system_b", "test", "note")
COLUMNS = (
    "criterion", "scorer", "model", "system_a", "system_b", *_COUNTS, "longer_higher", "sd_log2",
    "slope", "slope_low", "slope_high", "per_sd", "per_sd_low", "per_sd_high", "odds_ratio",
    "odds_ratio_low", "odds_ratio_high", "df", "test", "p_value", "p_adjusted", "note",
)  # fmt: skip
RATES = (
    "criterion", "scorer", "system_a", "system_b", "estimate", "n", "win_rate", "low", "high",
    "interval", "note",
)  # fmt: skip


def length_bias(  # noqa: PLR0913 - every choice of the analysis is a keyword of its own
    scores: pd.DataFrame,
    outputs: pd.DataFrame,
    *,
    criterion: str | None = None,
    scorer: str | None = None,
    length: str = "characters",
    cluster: str | bool | None = None,
    level: float = 0.95,
) -> LengthBias:
    """Say whether longer answers get better scores, pairwise or one by one.

    Pairwise judgements: a logistic model of the win (a tie is half a win) on the logarithm of
    the ratio of lengths, with an intercept for each pair of systems; the intercept says how often
    a system would win at equal length. Single ratings: a regression of the score on the logarithm
    of the length within examples, once as it is and once with systems taken out as well.

    This is association. A longer answer may be better because it says more; only rewriting
    answers to other lengths with the same content could show that length itself sways the judge.

    Args:
        scores: A score table, pairwise (``versus``) or not, or both.
        outputs: The outputs table that the scores are about.
        criterion: Name of the criterion; by default all.
        scorer: Name of the judge; by default all, each on its own.
        length: ``"characters"``, ``"words"``, or a column of numbers of `outputs` such as
            ``"tokens_out"``. Outputs of length 0 are left out and counted.
        cluster: None uses the column ``cluster`` where it is filled, a name uses that column,
            False treats all examples as independent.
        level: Confidence level between 0 and 1.

    Returns:
        The `LengthBias`: ``.table``, ``.rates``, ``.units``, ``.conclusion()``.

    Raises:
        SchemaError: A table breaks a rule.
        PairingError: No score meets an output, outputs cannot be told apart, or unknown names.

    Source:
        Dubois, Galambosi, Liang and Hashimoto, Length-controlled AlpacaEval, 2024; Papke and
        Wooldridge, Econometric methods for fractional response variables, 1996.

    Example:
        >>> ids = [str(i) for i in range(60)]
        >>> outputs = pd.concat([pd.DataFrame({"system": name, "example_id": ids,
        ...     "output": ["x" * (20 + (i * step) % 50) for i in range(60)]})
        ...     for name, step in (("a", 7), ("b", 11))])
        >>> size = outputs["output"].str.len().to_numpy()
        >>> rows = pd.DataFrame({"system": "a", "versus": "b", "example_id": ids,
        ...     "criterion": "better", "scorer": "judge",
        ...     "score": [float((x > y) != (i % 5 == 0))
        ...               for i, (x, y) in enumerate(zip(size[:60], size[60:]))]})
        >>> result = length_bias(rows, outputs)
        >>> result.table["slope"].gt(0).all(), result.table["p_value"].lt(0.01).all()
        (np.True_, np.True_)
    """
    fraction(level, name="level")
    rows = selected_rows(scores, criterion=criterion, scorer=scorer)
    answers = measured_outputs(outputs, length)
    pairs, singles = rows[rows["versus"].notna()], rows[rows["versus"].isna()]
    clusters = independent_clusters(rows, cluster)
    found: list[dict[str, Any]] = []
    rates: list[dict[str, Any]] = []
    parts: list[Measured] = []
    if len(pairs):
        parts.append(_numbered(compared(pairwise_rows(pairs), answers), clusters))
        found += _pairwise_rows(parts[-1], rates, level)
    if len(singles):
        parts.append(_numbered(rated(singles, answers), clusters))
        found += _rating_rows(parts[-1], level)
    if not any(len(part.units) for part in parts):
        raise _none_met(parts)
    table = _table(found)
    kinds = [name for name, part in (("pairwise", pairs), ("single", singles)) if len(part)]
    joined_by = {kind: part.joined_by for kind, part in zip(kinds, parts, strict=True)}
    settings = {
        "criteria": sorted(rows["criterion"].unique()),
        "scorers": sorted(rows["scorer"].unique()),
        "length": length,
        "joined_by": joined_by,
        "cluster": cluster,
        "by_cluster": clusters is not None,
        "level": level,
        "versions": versions() | texts.statsmodels_version(),
    }
    notes = tuple(texts.cautions(table))
    for note in notes:
        warn(note)
    rate_table = pd.DataFrame(rates, columns=list(RATES))
    return LengthBias(
        table,
        settings,
        texts.conclusion(table, rate_table, settings),
        texts.methods(table, settings),
        warnings=notes,
        rates=rate_table,
        units=pd.concat([_shown(part.units) for part in parts], ignore_index=True),
    )


def _numbered(part: Measured, clusters: pd.Series | None) -> Measured:
    units = part.units
    blocks = block_codes(units, clusters) if len(units) else np.empty(0, dtype=np.intp)
    return Measured(units.assign(block=blocks), part.joined_by, part.lost)


def _none_met(parts: list[Measured]) -> PairingError:
    lost = pd.concat([part.lost for part in parts]).sum()
    keys = ", ".join(dict.fromkeys(key for part in parts for key in part.joined_by))
    return PairingError(
        f"no score meets an output with a length: {int(lost['n_no_output'])} row(s) find no output "
        f"by {keys}, {int(lost['n_empty'])} find an empty one, {int(lost['n_not_scored'])} have no "
        "score. Check that systems, tasks and ids are written alike in both tables",
        code="no_common_output",
        path="outputs",
    )


def _lost(part: Measured, names: tuple[Any, ...]) -> dict[str, int]:
    return {str(k): int(v) for k, v in part.lost.loc[tuple(names[:2])].items()}


def _pairwise_rows(
    part: Measured, rates: list[dict[str, Any]], level: float
) -> list[dict[str, Any]]:
    rows = []
    for names, units in part.units.groupby(_SERIES):
        row, _ = pairwise_row(units, level)
        own = dict(zip(_SERIES, names, strict=True)) | {"model": "pairwise_all"}
        rows.append(own | _lost(part, names) | row)
    for names, units in part.units.groupby(PAIR):
        row, fit = pairwise_row(units, level)
        own = dict(zip(PAIR, names, strict=True))
        rows.append(own | {"model": "pairwise_pair"} | row)
        rates += [own | rate for rate in rate_rows(units, fit, level)]
    return rows


def _rating_rows(part: Measured, level: float) -> list[dict[str, Any]]:
    rows = []
    for names, units in part.units.groupby(_SERIES):
        own = dict(zip(_SERIES, names, strict=True)) | _lost(part, names)
        for name, systems in (("within_examples", False), ("within_examples_and_systems", True)):
            if not systems or units["system"].nunique() > 1:
                rows.append(own | {"model": name} | rating_row(units, systems=systems, level=level))
    return rows


def _table(rows: list[dict[str, Any]]) -> pd.DataFrame:
    table = pd.DataFrame(rows).reindex(columns=list(COLUMNS))
    text = table[list(_TEXT)].astype("str").fillna({"test": "none", "note": ""})
    counts = table[list(_COUNTS)].astype("Int64")
    numbers = [name for name in COLUMNS if name not in (*_TEXT, *_COUNTS)]
    table = pd.concat([text, counts, table[numbers].astype("float64")], axis=1)[list(COLUMNS)]
    for model in table["model"].unique():
        here = table["model"] == model
        p_values = table.loc[here, "p_value"].to_numpy()
        table.loc[here, "p_adjusted"] = stats.adjust(p_values, method="holm")
    order = ["criterion", "scorer", "model", "system_a", "system_b"]
    return table.sort_values(order, kind="stable").reset_index(drop=True)


def _shown(units: pd.DataFrame) -> pd.DataFrame:
    names = (
        "criterion", "scorer", "run_id", "system", "system_a", "system_b", "task", "example_id",
        "trial", "score", "preference", "length", "length_a", "length_b",
    )  # fmt: skip
    return units[[name for name in names if name in units.columns]]
