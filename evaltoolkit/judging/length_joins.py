"""Scores beside the lengths of the answers that they judge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from evaltoolkit.errors import PairingError, nearest
from evaltoolkit.judging.preferences import PAIR
from evaltoolkit.judging.selection import EXAMPLE
from evaltoolkit.schema import OUTPUTS, normalise, rows_text

ANSWER = ["system", *EXAMPLE]
"""What names an answer, before trial and run."""

_RATED = ("criterion", "scorer", "run_id", *ANSWER, "trial", "score")


@dataclass(frozen=True)
class Measured:
    """Scores with lengths, and what was lost on the way.

    Attributes:
        units: One row per comparison or rated output, with ``x``: log2 of the length, or of the
            ratio of the lengths of a and b.
        joined_by: The columns by which scores and outputs met.
        lost: Per criterion and scorer: ``n_no_output``, ``n_empty``, ``n_not_scored`` (rows).
    """

    units: pd.DataFrame
    joined_by: list[str]
    lost: pd.DataFrame


def measured_outputs(outputs: pd.DataFrame, length: str) -> pd.DataFrame:
    """Measure the length of every output; NaN where there is no text, or no number.

    Raises:
        PairingError: The column is absent or no number.
    """
    table = normalise(outputs, OUTPUTS)
    if length in ("characters", "words"):
        count = len if length == "characters" else _words
        return table.assign(length=table["output"].map(count, na_action="ignore").astype("float64"))
    if length not in table.columns or not pd.api.types.is_numeric_dtype(table[length]):
        raise PairingError(
            f"length is {length!r}; it must be 'characters', 'words', or a column of numbers of "
            f"the outputs table such as 'tokens_out'; {nearest(length, table.columns)}",
            code="bad_option",
            path="length",
            value=length,
        )
    sizes = table[length].astype("float64")
    return table.assign(length=sizes.where(np.isfinite(sizes)))


def _words(text: str) -> int:
    return len(text.split())


def rated(rows: pd.DataFrame, outputs: pd.DataFrame) -> Measured:
    """Join scores of single answers to their lengths.

    They meet by system, task, example and trial, and by run where both tables have runs in
    common: a judge may have scored in a run of its own.
    """
    keys = [*ANSWER, "trial"]
    if rows["run_id"].isin(outputs["run_id"]).any():
        keys = ["run_id", *keys]
    own = rows[[*_RATED]]
    joined = own.merge(_lengths(outputs, keys), on=keys, how="left", validate="many_to_one")
    good, lost = _split(joined, ["length"])
    return Measured(good.assign(x=np.log2(good["length"])), keys, lost)


def compared(pairs: pd.DataFrame, outputs: pd.DataFrame) -> Measured:
    """Join pairwise judgements to the lengths of both answers, one row per comparison.

    Both orders of presentation, and several judgements of the same two answers, are averaged.
    The answers meet by system, task, example and trial; where the position is given, trials may
    be orders of presentation, so that one output per system and example serves all of them.
    """
    keys = [*ANSWER, "trial"]
    ordered = "position" in pairs.columns and bool(pairs["position"].notna().any())
    if ordered and outputs.groupby(ANSWER)["trial"].nunique().le(1).all():
        keys = list(ANSWER)
    lengths = _lengths(outputs, keys)
    joined = pairs[[*PAIR, *EXAMPLE, "trial", "score", "preference"]]
    for side in ("a", "b"):
        own = {name: f"{name}_{side}" for name in ("system", "length", "found")}
        named = lengths.rename(columns=own)
        on = [f"system_{side}" if key == "system" else key for key in keys]
        joined = joined.merge(named, on=on, how="left", validate="many_to_one")
    good, lost = _split(joined, ["length_a", "length_b"])
    unit = [*PAIR, *EXAMPLE, *(["trial"] if "trial" in keys else [])]
    ordered_rows = good.sort_values([*unit, "preference"], kind="stable")
    units = ordered_rows.groupby(unit, sort=True).agg(
        preference=("preference", "mean"),
        length_a=("length_a", "first"),
        length_b=("length_b", "first"),
        n_judgements=("preference", "size"),
    )
    units = units.reset_index()
    return Measured(units.assign(x=np.log2(units["length_a"] / units["length_b"])), keys, lost)


def _lengths(outputs: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """List one length per answer.

    Raises:
        PairingError: Several outputs have the same key.
    """
    repeated = outputs.duplicated(keys, keep=False)
    if repeated.any():
        raise PairingError(
            f"{int(repeated.sum())} outputs share the key ({', '.join(keys)}) by which scores "
            f"find them: {rows_text(outputs[repeated], ['run_id', *keys][:6])}. Keep one run, e.g. "
            "outputs[outputs.run_id == ...], or give scores the run_id of their outputs",
            code="ambiguous_outputs",
            path="outputs",
            value=keys,
        )
    return outputs[[*keys, "length"]].assign(found=True)


def _split(joined: pd.DataFrame, lengths: list[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Keep rows with a score and lengths above 0; count the others by their first cause."""
    found = [name.replace("length", "found") for name in lengths]
    scored = joined["score"].notna()
    here = joined[found].notna().all(axis=1)
    full = (joined[lengths] > 0).all(axis=1)
    causes = pd.DataFrame(
        {
            "criterion": joined["criterion"],
            "scorer": joined["scorer"],
            "n_not_scored": ~scored,
            "n_no_output": scored & ~here,
            "n_empty": scored & here & ~full,
        }
    )
    lost = causes.groupby(["criterion", "scorer"]).sum().astype("int64")
    return joined[scored & here & full], lost
