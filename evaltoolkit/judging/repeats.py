"""`repeatability`: does the same judge give the same output the same score again?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evaltoolkit import stats
from evaltoolkit.criteria import CriterionInfo, criteria_of
from evaltoolkit.errors import PairingError, nearest, warn
from evaltoolkit.judging import repeat_numbers as numbers
from evaltoolkit.judging import repeat_texts as texts
from evaltoolkit.judging.preferences import selected_rows
from evaltoolkit.judging.selection import EXAMPLE, block_codes, versions
from evaltoolkit.results.biases import Repeatability
from evaltoolkit.schema import rows_text
from evaltoolkit.stats.checks import fraction, whole

DRAWS = 2000
_SERIES = ["criterion", "scorer"]
_FORBIDDEN = (
    "system", "task", "example_id", "criterion", "scorer", "versus", "score", "label", "passed",
    "status", "message", "kind", "higher_is_better",
)  # fmt: skip
_OUTPUT = ["run_id", "system", "task", "example_id", "trial", "versus"]


def repeatability(
    scores: pd.DataFrame,
    *,
    repeats: str,
    criterion: str | None = None,
    scorer: str | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Repeatability:
    """Say how far a judge repeats itself on the very same outputs.

    The table cannot tell a judge that looked twice from a system that answered twice, so
    `repeats` must say which column numbers the judge's repeats. Declaring trials of the *system*
    to be repeats would blame the judge for what the system varied.

    Args:
        scores: A score table in which the same output was judged several times.
        repeats: ``"trial"``, ``"run_id"``, or another column that numbers the judge's repeats.
            Of a further column, run and trial still tell outputs apart, unless each of their
            values belongs to one repeat only.
        criterion: Name of the criterion; by default all.
        scorer: Name of the judge; by default all, each on its own.
        level: Confidence level between 0 and 1.
        seed: Seed of the resamples.

    Returns:
        The `Repeatability`: ``.table``, ``.runs``, ``.outputs``, ``.conclusion()``.

    Raises:
        SchemaError: The score table breaks a rule.
        PairingError: `repeats` is no such column, or an output has several scores in one repeat.

    Source:
        Bland and Altman, Measurement error, 1996; Shrout and Fleiss, Intraclass correlations,
        1979.

    Example:
        >>> rows = [("a", i, again, float(i % 3 > 0) if again == 0 else float(i % 4 > 0))
        ...         for i in range(60) for again in (0, 1)]
        >>> table = pd.DataFrame(rows, columns=["system", "example_id", "trial", "score"])
        >>> table = table.assign(criterion="correct", scorer="judge")
        >>> result = repeatability(table, repeats="trial")
        >>> result.table[["n_outputs", "exact", "kappa", "mean_range"]].round(3).values[0]
        array([ 6.00e+01,  5.83e-01, -8.00e-03,  8.30e-02])
    """
    fraction(level, name="level")
    whole(seed, name="seed")
    rows = selected_rows(scores, criterion=criterion, scorer=scorer)
    keys = _output_keys(rows, repeats)
    infos = criteria_of(rows)
    found, runs, outputs = [], [], []
    for names, part in rows.groupby(_SERIES):
        own: dict[str, Any] = dict(zip(_SERIES, names, strict=True))
        series = _series(part, keys, repeats, infos[str(names[0])])
        found.append(own | numbers.row(series, level=level, seed=seed, draws=DRAWS))
        runs += [own | run for run in numbers.run_rows(series, level=level, seed=seed)]
        outputs.append(series.outputs.assign(**own))
    table = pd.DataFrame(found).reindex(columns=[*_SERIES, *numbers.COLUMNS])
    settings = {
        "criteria": sorted(rows["criterion"].unique()),
        "scorers": sorted(rows["scorer"].unique()),
        "repeats": repeats,
        "output_keys": keys,
        "kinds": {name: info.kind for name, info in infos.items()},
        "level": level,
        "seed": seed,
        "draws": DRAWS,
        "versions": versions(),
    }
    notes = tuple(texts.cautions(table, settings))
    for note in notes:
        warn(note)
    listing = pd.concat(outputs, ignore_index=True)
    return Repeatability(
        table,
        settings,
        texts.conclusion(table, settings),
        texts.methods(table, settings),
        warnings=notes,
        runs=pd.DataFrame(runs, columns=[*_SERIES, *numbers.RUN_COLUMNS]),
        outputs=listing[[*_SERIES, *(n for n in listing.columns if n not in _SERIES)]],
    )


def _output_keys(rows: pd.DataFrame, repeats: str) -> list[str]:
    """Choose the columns that name an output, apart from the repeats of the judge.

    Raises:
        PairingError: The column is absent, empty, or says something else.
    """
    if repeats in _FORBIDDEN or repeats not in rows.columns:
        raise PairingError(
            f"repeats is {repeats!r}; it must be 'trial', 'run_id' or another column of the table "
            "that numbers how often the judge has judged the same output; "
            f"{nearest(repeats, [n for n in rows.columns if n not in _FORBIDDEN])}",
            code="bad_repeats",
            path="repeats",
            value=repeats,
        )
    if rows[repeats].isna().any():
        raise PairingError(
            f"{int(rows[repeats].isna().sum())} row(s) have no {repeats}; every row needs one to "
            "say which repeat it is",
            code="bad_repeats",
            path="repeats",
            value=repeats,
        )
    keys = [name for name in _OUTPUT if name != repeats]
    if repeats != "position" and "position" in rows.columns and rows["position"].notna().any():
        keys.append("position")  # the other order of a pair is another question to the judge
    if repeats in _OUTPUT:
        return keys
    several = rows[repeats].nunique() > 1
    carriers = [
        name
        for name in ("run_id", "trial")
        if several and rows.groupby(name)[repeats].nunique().le(1).all()
    ]
    return [name for name in keys if name not in carriers]


def _series(
    part: pd.DataFrame, keys: list[str], repeats: str, info: CriterionInfo
) -> numbers.Series:
    """Collect the repeated scores of one judge and criterion.

    Raises:
        PairingError: An output has several scores in one repeat.
    """
    twice = part.duplicated([*keys, repeats], keep=False)
    if twice.any():
        raise PairingError(
            f"{int(twice.sum())} rows of {part['scorer'].iloc[0]!r} share output and {repeats}: "
            f"{rows_text(part[twice], [*keys, repeats][-6:])}. {repeats!r} must number the judge's "
            "repeats of one output; name the column that does, or keep one run or trial",
            code="repeated_rows",
            path="repeats",
            value=repeats,
        )
    filled = part.fillna({name: "" for name in ("versus", "position") if name in keys})
    ordered = filled.sort_values([*keys, repeats], kind="stable")
    scored = ordered[ordered["score"].notna()]
    counts = scored.groupby(keys)["score"].transform("size")
    kept = scored[counts > 1]
    n_all = int(ordered.drop_duplicates(keys).shape[0])
    outputs = kept.groupby(keys, sort=True)["score"].agg(["size", "min", "max", "mean"])
    listing = outputs.reset_index().rename(columns={"size": "n_repeats"})
    listing["same"] = listing["max"] - listing["min"] <= 1e-9 * listing["max"].abs()
    values = stats.merge_near(kept["score"].to_numpy()) if len(kept) else np.empty(0)
    return numbers.Series(
        values=values,
        output=np.asarray(kept.groupby(keys, sort=True).ngroup(), dtype=np.intp),
        repeat=kept[repeats].to_numpy(),
        blocks=_blocks(listing),
        verdicts=_verdicts(kept, values, info),
        binary=info.kind == "binary",
        outputs=listing,
        n_once=n_all - len(listing),
        n_not_scored=int(ordered["score"].isna().sum()),
    )


def _blocks(listing: pd.DataFrame) -> NDArray[np.intp]:
    if not len(listing):
        return np.empty(0, dtype=np.intp)
    return block_codes(listing[EXAMPLE], None)


def _verdicts(kept: pd.DataFrame, values: stats.Floats, info: CriterionInfo) -> stats.Floats:
    """Turn scores into verdicts: pass or fail, or which answer of a pair wins; NaN without."""
    if info.kind == "binary":
        return values
    pairwise = kept["versus"].ne("").to_numpy(dtype=bool)
    passed = kept["passed"].astype("float64").to_numpy(dtype=np.float64, na_value=math.nan)
    if not math.isnan(info.threshold):
        above = values >= info.threshold if info.higher_is_better else values <= info.threshold
        passed = np.where(np.isnan(passed), above.astype(np.float64), passed)
    won = np.sign(stats.snap(values - 0.5, scale=1.0)) if values.size else values
    found: stats.Floats = np.where(pairwise, won, passed)
    return found
