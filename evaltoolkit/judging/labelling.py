"""`attach_labels`: labels of people become a scorer of a criterion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from evaltoolkit.errors import PairingError, ReadError, SchemaError, listed, nearest, warn
from evaltoolkit.judging.selection import UNIT
from evaltoolkit.measurements import rows_named
from evaltoolkit.schema import CRITERION_COLUMNS, SCORES, as_text, rows_text
from evaltoolkit.scores import check_scores

_WORDS = {"true": 1.0, "false": 0.0}
_OWN = "label row"  # holds the number of each label's row; no score table has such a column


def attach_labels(  # noqa: PLR0913 - each choice is a keyword of its own
    scores: pd.DataFrame,
    labels: pd.DataFrame | str | Path,
    *,
    criterion: str | None = None,
    column: str | None = None,
    on: Sequence[str] | None = None,
    values: Mapping[Any, float] | None = None,
    scorer: str = "human",
    unmatched: Literal["error", "warn"] = "error",
) -> pd.DataFrame:
    """Add labels of people to a score table, as one more scorer of a criterion.

    Each label finds the output that it is about by the columns in `on`; the new row takes run,
    system, task, example, trial and the example's attributes from there. So the labels can be
    compared with the judge (`agreement`) and correct it (`calibrate`).

    Args:
        scores: A score table with the outputs that were labelled.
        labels: One row per label: a DataFrame or the path of a CSV file.
        criterion: What was labelled; by default the only criterion of the table.
        column: Column of `labels` that holds the label; by default one named ``label``,
            ``score`` or like the scorer.
        on: Columns that find the output, ``example_id`` among them; by default those of
            run_id, system, task, example_id, trial and versus that `labels` has.
        values: Numbers for the labels, e.g. ``{"good": 1, "bad": 0}``. Numbers and true/false
            need none.
        scorer: Name of the new scorer. Give each annotator a name of their own.
        unmatched: ``"error"`` refuses labels of outputs that are not in the table, ``"warn"``
            leaves them out with a warning that counts them.

    Returns:
        The score table with one row added for every label that is not empty; empty ones are
        left out with a warning that counts them.

    Raises:
        ReadError: The file cannot be read as CSV.
        SchemaError: A column is absent or a label is no number; or the score table, with the
            labels, breaks a rule.
        PairingError: A label finds no output or several, or an output has two labels.

    Example:
        >>> table = pd.DataFrame({"system": "a", "example_id": [1, 2], "criterion": "helpful",
        ...     "scorer": "judge", "score": [1.0, 1.0]})
        >>> marks = pd.DataFrame({"example_id": [2], "label": ["bad"]})
        >>> both = attach_labels(table, marks, values={"good": 1, "bad": 0})
        >>> both[["example_id", "scorer", "score", "label"]].values.tolist()[2:]
        [['2', 'human', 0.0, 'bad']]
    """
    if unmatched not in ("error", "warn"):
        raise PairingError(
            f"unmatched is {unmatched!r}; it must be 'error' or 'warn'",
            code="bad_option",
            path="unmatched",
            value=unmatched,
        )
    table = check_scores(scores)
    name = _only_criterion(table) if criterion is None else str(criterion)
    rows = rows_named(table, "criterion", [name])
    frame, origin = _read(labels)
    keys = _keys(frame, on)
    given = _given(frame, keys, _label_column(frame, column, scorer), values)
    outputs = _outputs(rows, table)
    matched = _matched(given, outputs, keys, unmatched=unmatched)
    _check_new(matched, rows, scorer)
    added = _label_rows(matched, outputs, rows, scorer=scorer, criterion=name, origin=origin)
    return check_scores(pd.concat([table, added], ignore_index=True))


def _only_criterion(table: pd.DataFrame) -> str:
    names = table["criterion"].unique()
    if len(names) != 1:
        raise PairingError(
            f"the table has {len(names)} criteria ({listed(names)}); say with criterion= which "
            "one was labelled",
            code="unknown_criterion",
            path="criterion",
        )
    return str(names[0])


def _read(labels: pd.DataFrame | str | Path) -> tuple[pd.DataFrame, str]:
    if isinstance(labels, pd.DataFrame):
        return labels.reset_index(drop=True), "labels"
    try:
        # ids stay text ("007"), and "NA" or "None" may be ids
        frame = pd.read_csv(
            labels, dtype=str, keep_default_na=False, na_values=[""], encoding="utf-8-sig"
        )
    except (OSError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise ReadError(
            f"the labels {str(labels)!r} cannot be read as CSV in UTF-8: {error}; give the path "
            "of a CSV file with a header line, or a DataFrame",
            code="unreadable",
            path=str(labels),
        ) from error
    return frame, Path(labels).name


def _keys(frame: pd.DataFrame, on: Sequence[str] | None) -> list[str]:
    keys = [n for n in UNIT if n in frame.columns] if on is None else list(dict.fromkeys(on))
    absent = [name for name in [*keys, "example_id"] if name not in frame.columns]
    if absent:
        raise SchemaError(
            f"the labels have no column {listed(absent)} to find outputs by; they have "
            f"{listed(frame.columns, limit=12)}. Rename a column to example_id (and system, "
            "task, trial where needed)",
            code="missing_column",
            path="on",
            value=absent,
        )
    wrong = [name for name in keys if name not in UNIT]
    if wrong or "example_id" not in keys:
        raise SchemaError(
            f"on is {keys}; it must hold 'example_id' and may hold {listed(UNIT, limit=9)}",
            code="bad_option",
            path="on",
            value=wrong,
        )
    return keys


def _label_column(frame: pd.DataFrame, column: str | None, scorer: str) -> str:
    candidates = dict.fromkeys(["label", "score", scorer]) if column is None else [column]
    found = [name for name in candidates if name in frame.columns]
    if len(found) != 1:
        hint = nearest(column, frame.columns) if column else "name it with column="
        raise SchemaError(
            f"the labels have {len(found)} columns named {listed(candidates)}, one is needed; "
            f"columns: {listed(frame.columns, limit=12)}; {hint}",
            code="missing_column" if not found else "ambiguous_column",
            path="column",
            value=found,
        )
    return found[0]


def _given(
    frame: pd.DataFrame, keys: list[str], column: str, values: Mapping[Any, float] | None
) -> pd.DataFrame:
    """Keep the labels that are not empty, as keys, the text as written and a number."""
    written = as_text(frame[column])
    empty = written.isna() | (written.str.strip() == "")
    if empty.any():
        warn(
            f"{int(empty.sum())} of {len(frame)} rows have no label in {column!r} and are left out",
            stacklevel=4,
        )
    kept = frame[~empty]
    key_columns = {name: _key_values(kept[name], name) for name in keys}
    given = pd.DataFrame(key_columns, index=kept.index)
    number = _numbers(written[~empty], column, values)
    given = given.assign(number=number, written=written[~empty].str.strip())
    given[_OWN] = np.flatnonzero(~empty.to_numpy(dtype=bool)) + 1
    return given


def _key_values(values: pd.Series, name: str) -> pd.Series:
    """Write the values of a key as a score table does, so that 7, 7.0 and "7" meet."""
    text = as_text(values).str.strip()
    if name == "example_id" or name == "system":
        blank = text.isna() | (text == "")
        if blank.any():
            raise SchemaError(
                f"{int(blank.sum())} label(s) have no {name}; fill it in or remove those rows",
                code="missing_id",
                path=name,
            )
    if name == "trial":
        text = text.fillna("0").str.replace(r"\.0$", "", regex=True)
    return text.fillna("")


def _numbers(written: pd.Series, column: str, values: Mapping[Any, float] | None) -> pd.Series:
    words = written.str.strip()
    known = {str(key).strip(): float(value) for key, value in (values or {}).items()}
    if values is None:
        number = words.str.lower().map(_WORDS).fillna(pd.to_numeric(words, errors="coerce"))
    else:
        number = words.map(known)
    number = number.astype("float64")
    bad = ~np.isfinite(number)
    if bad.any():
        raise SchemaError(
            f"column {column!r} of the labels holds {listed(words[bad].unique())} in "
            f"{int(bad.sum())} row(s); labels must be finite numbers or true/false, or be mapped "
            'to numbers: values={"good": 1, "bad": 0}',
            code="bad_label",
            path=column,
            value=words[bad].iloc[0],
        )
    return number


def _outputs(rows: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """List the outputs that have a row of the criterion, with what is known of the example."""
    facts = [n for n in ("cluster", *SCORES.attributes(table)) if n in table.columns]
    units = rows.assign(versus=rows["versus"].fillna(""))
    return units[[*UNIT, *facts]].groupby(UNIT, sort=False, as_index=False).first()


def _matched(
    given: pd.DataFrame, outputs: pd.DataFrame, keys: list[str], *, unmatched: str
) -> pd.DataFrame:
    """Find the output of each label.

    Raises:
        PairingError: A label finds none or several, or two labels find the same.
    """
    found = outputs[UNIT].assign(trial=outputs["trial"].astype("str"))
    found = found.assign(place=np.arange(len(found)))[[*keys, "place"]]
    pairs = given.merge(found, on=keys, how="left", validate="many_to_many")
    lost = pairs["place"].isna()
    if lost.any():
        text = (
            f"{int(lost.sum())} of {len(given)} labels are about no output of the table: "
            f"{rows_text(pairs[lost], keys)}"
        )
        if unmatched == "error" or lost.all():
            raise PairingError(
                f"{text}. Check that {', '.join(keys)} are written alike, e.g. "
                f"{rows_text(outputs, keys, limit=1)}; unmatched='warn' leaves them out",
                code="unmatched_labels",
                path="labels",
                value=int(lost.sum()),
            )
        warn(f"{text}; they are left out", stacklevel=4)
    pairs = pairs[~lost]
    several = pairs.duplicated(_OWN, keep=False)
    if several.any():
        missing = [n for n in UNIT if n not in keys and outputs[n].nunique() > 1]
        raise PairingError(
            f"{int(pairs.loc[several, _OWN].nunique())} label(s) fit several outputs: "
            f"{rows_text(pairs[several].drop_duplicates(_OWN), keys)}; the labels need the "
            f"column(s) {listed(missing)} to say which one was labelled",
            code="ambiguous_labels",
            path="labels",
            value=missing,
        )
    twice = pairs.duplicated("place", keep=False)
    if twice.any():
        raise PairingError(
            f"{int(pairs.loc[twice, 'place'].nunique())} output(s) have more than one label: "
            f"{rows_text(pairs[twice], [*keys, 'written'])}; attach each annotator with a "
            "scorer= name of their own",
            code="repeated_labels",
            path="labels",
        )
    return pairs.astype({"place": "int64"})


def _check_new(matched: pd.DataFrame, rows: pd.DataFrame, scorer: str) -> None:
    if (rows["scorer"] == scorer).any() and len(matched):
        raise PairingError(
            f"the criterion already has scores of {scorer!r}; give these labels another name "
            "with scorer=, or remove the old rows first",
            code="already_labelled",
            path="scorer",
            value=scorer,
        )


def _label_rows(
    matched: pd.DataFrame,
    outputs: pd.DataFrame,
    rows: pd.DataFrame,
    *,
    scorer: str,
    criterion: str,
    origin: str,
) -> pd.DataFrame:
    added = outputs.iloc[matched["place"].to_numpy()].reset_index(drop=True)
    constant = {
        name: rows[name].dropna().iloc[0]
        for name in CRITERION_COLUMNS
        if name in rows.columns and rows[name].notna().any()
    }
    added = added.assign(
        versus=added["versus"].mask(added["versus"] == ""),
        criterion=criterion,
        scorer=scorer,
        score=matched["number"].to_numpy(),
        label=matched["written"].to_numpy(),
        source=[f"{origin} row {number}" for number in matched[_OWN]],
        status="scored",
        **constant,
    )
    columns = [name for name in rows.columns if name in added.columns]
    return added[columns]
