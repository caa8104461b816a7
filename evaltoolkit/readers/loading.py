"""From files of any known format to the three tables: the public reading functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NoReturn

import numpy as np
import pandas as pd

from evaltoolkit.errors import ReadError, SchemaError, listed, nearest, warn
from evaltoolkit.readers.base import OnError, TableName
from evaltoolkit.readers.copies import copies_text, shared_runs, without_copies
from evaltoolkit.readers.finding import Place
from evaltoolkit.readers.per_file import TABLES, Loaded, concat_tables, load
from evaltoolkit.readers.run_settings import without_disagreement
from evaltoolkit.schema import SCORES, Table, empty
from evaltoolkit.scores import SCORE_KEY, Duplicates, resolve_and_check

Renaming = str | Mapping[str, str] | None


def read_scores(
    source: Place | Iterable[Place],
    *,
    format: str | None = None,
    system: Renaming = None,
    on_error: OnError = "raise",
    duplicates: Duplicates = "error",
) -> pd.DataFrame:
    r"""Read the scores in result files of any known tool into one score table.

    Formats are recognised by content. A folder is searched to the bottom; in it, and behind a
    glob pattern, files of no known format are skipped and counted. Where one run stands in two
    files, rows that are equal in every cell are read once, with a warning that counts them.

    Args:
        source: A file, a glob pattern, a folder, or a list of those; ``~`` is the home folder.
        format: Name of the format, to force one; see `formats`.
        system: A text names the system of all that is read (it must be one system); a mapping
            ``{old: new}`` renames systems.
        on_error: ``"raise"`` stops at the first broken file or record; ``"skip"`` reads the
            rest, warns with the count and lists them in ``attrs["problems"]``.
        duplicates: What to do where a key occurs twice: ``"error"``, ``"last"`` or ``"trials"``;
            see `evaltoolkit.scores.resolve_duplicates`.

    Returns:
        A checked score table, rows in order of the sorted files. Its ``attrs`` hold ``skipped``
        (files, with the reason), ``problems`` (records), ``notes`` (what readers decided) and
        ``unknown`` (counts of records of kinds that a reader does not know).

    Raises:
        ReadError: A file is missing, broken, of no known format or without scores.
        SchemaError: The rows break a rule of the score table, e.g. a key occurs twice.
        EvalToolkitError: An option is wrong.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> rows = "system,example_id,criterion,score\na,1,acc,1\nb,1,acc,0\n"
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "runs.csv").write_text(rows)
        ...     scores = read_scores(folder)
        >>> scores[["system", "score"]].values.tolist()
        [['a', 1.0], ['b', 0.0]]
    """
    loaded = load(source, "scores", format=format, on_error=on_error, system=_text(system))
    table = _once(_renamed(_joined(loaded, SCORES), system), SCORES, loaded, stacklevel=4)
    table, disagreements = without_disagreement(table, _origins(loaded))
    for text in disagreements:
        warn(text, stacklevel=3)
    try:
        table = resolve_and_check(table, duplicates=duplicates)
    except SchemaError as error:
        _raise_with_files(error, table, loaded)
    return _finished(table, loaded)


def read_outputs(
    source: Place | Iterable[Place],
    *,
    format: str | None = None,
    system: Renaming = None,
    on_error: OnError = "raise",
) -> pd.DataFrame:
    """Read what the systems answered (texts, errors, costs, times) into one outputs table.

    Args:
        source: Files, as in `read_scores`.
        format: Name of the format, to force one.
        system: A name, or a mapping that renames systems, as in `read_scores`.
        on_error: ``"raise"`` or ``"skip"``, as in `read_scores`.

    Returns:
        The outputs table, with the same ``attrs`` as `read_scores` gives.

    Raises:
        ReadError: A file is missing, broken, of no known format or without outputs.
    """
    return _other_table("outputs", source, format, system, on_error)


def read_details(
    source: Place | Iterable[Place],
    *,
    format: str | None = None,
    system: Renaming = None,
    on_error: OnError = "raise",
) -> pd.DataFrame:
    """Read what scorers noted beside their scores into one details table.

    Args:
        source: Files, as in `read_scores`.
        format: Name of the format, to force one.
        system: A name, or a mapping that renames systems, as in `read_scores`.
        on_error: ``"raise"`` or ``"skip"``, as in `read_scores`.

    Returns:
        The details table: keyed like the score table, with one column of JSON text.

    Raises:
        ReadError: A file is missing, broken, of no known format or without details.
    """
    return _other_table("details", source, format, system, on_error)


def _other_table(
    name: TableName,
    source: Place | Iterable[Place],
    format: str | None,
    system: Renaming,
    on_error: OnError,
) -> pd.DataFrame:
    loaded = load(source, name, format=format, on_error=on_error, system=_text(system))
    table = _renamed(_joined(loaded, TABLES[name]), system)
    table = _once(table, TABLES[name], loaded, stacklevel=5)
    repeated = int(table.duplicated(list(TABLES[name].key)).sum())
    if repeated:
        warn(
            f"{repeated} row(s) of the {TABLES[name].name} repeat the key of an earlier row "
            f"({listed(TABLES[name].key, limit=8)}), so they cannot be matched to one score",
            stacklevel=4,
        )
    return _finished(table, loaded, stacklevel=6)


def _joined(loaded: Loaded, table: Table) -> pd.DataFrame:
    """Put the tables of all files below each other; their own are let go, to save memory."""
    frames = []
    for each in loaded.files:
        each.count = 0 if each.frame is None else len(each.frame)
        if each.frame is not None:
            frames.append(each.frame)
            each.frame = None
    joined = concat_tables(frames)
    return empty(table) if joined is None else joined


def _origins(loaded: Loaded) -> np.ndarray:
    """Give for each row the number of its file."""
    return np.repeat(np.arange(len(loaded.files)), [each.count for each in loaded.files])


def _once(table: pd.DataFrame, kind: Table, loaded: Loaded, *, stacklevel: int) -> pd.DataFrame:
    """Leave out rows that stand in two files of the same run, with a count."""
    files = _origins(loaded)
    kept = without_copies(table, files, list(kind.key))
    if len(kept) == len(table):
        return table
    text = copies_text(files, kept.index, [str(each.path) for each in loaded.files])
    loaded.notes.append(text)
    warn(text, stacklevel=stacklevel)
    left = np.bincount(files[kept.index], minlength=len(loaded.files))
    for each, count in zip(loaded.files, left.tolist(), strict=True):
        each.count = count
    return kept.reset_index(drop=True)


def _text(system: Renaming) -> str | None:
    return system if isinstance(system, str) else None


def _renamed(table: pd.DataFrame, system: Renaming) -> pd.DataFrame:
    if system is None or table.empty:
        return table
    systems = table["system"].unique().tolist()
    if isinstance(system, str):
        if len(systems) > 1:
            raise ReadError(
                f"system={system!r} names one system, but {len(systems)} were read: "
                f"{listed(systems)}; rename them with a mapping, system={{old: new, ...}}",
                code="several_systems",
                path="system",
                value=systems,
            )
        return table.assign(system=system)
    unknown = [name for name in system if name not in systems]
    if unknown:
        hints = "; ".join(f"{name!r}: {nearest(name, systems)}" for name in unknown)
        raise ReadError(
            f"system renames {listed(unknown)}, which is not among the systems read ({hints})",
            code="unknown_system",
            path="system",
            value=unknown,
        )
    columns = [name for name in ("system", "versus") if name in table.columns]
    return table.assign(**{name: table[name].replace(dict(system)) for name in columns})


def _raise_with_files(error: SchemaError, table: pd.DataFrame, loaded: Loaded) -> NoReturn:
    """Add to an error of the whole table which files its rows came from."""
    paths = [str(each.path) for each in loaded.files]
    if error.code == "duplicate_keys":
        repeated = table.duplicated(list(SCORE_KEY), keep=False)
        rows, files = table[repeated], _origins(loaded)[repeated.to_numpy()]
        text = f"read from {listed(dict.fromkeys(rows['source'].dropna()))}"
        if shared_runs(rows, files):
            both = listed(paths[number] for number in np.unique(files))
            text += f"; one run stands in more than one file, so give only one of {both}"
        raise SchemaError(f"{error} ({text})", code=error.code) from error
    files_read = listed(p for p, each in zip(paths, loaded.files, strict=True) if each.count)
    raise SchemaError(f"{error} (read from {files_read})", code=error.code) from error


def _finished(table: pd.DataFrame, loaded: Loaded, *, stacklevel: int = 5) -> pd.DataFrame:
    _warn_of_losses(loaded, stacklevel=stacklevel)
    table.attrs = {
        "skipped": [
            {"file": str(each.path), "reason": each.reason} for each in loaded.files if each.reason
        ],
        "problems": [vars(problem) for problem in loaded.problems],
        "notes": loaded.notes,
        "unknown": [
            {"file": file, "format": name, "kind": kind, "count": count}
            for (file, name, kind), count in loaded.unknowns.items()
        ],
    }
    return table


def _warn_of_losses(loaded: Loaded, *, stacklevel: int) -> None:
    kinds: Counter[tuple[str, str]] = Counter()
    for (_, name, kind), count in loaded.unknowns.items():
        kinds[name, kind] += count
    for (name, kind), count in kinds.items():
        warn(
            f"{name}: {count} record(s) of the unknown kind {kind} were left out (by file: "
            ".attrs['unknown'])",
            stacklevel=stacklevel,
        )
    files = [each for each in loaded.files if each.is_problem]
    if files:
        warn(
            f"{len(files)} of {len(loaded.files)} file(s) could not be read, the first: "
            f"{files[0].reason} (all: .attrs['skipped'])",
            stacklevel=stacklevel,
        )
    if loaded.problems:
        first = loaded.problems[0]
        warn(
            f"{len(loaded.problems)} record(s) could not be read, the first: {first.file}: "
            f"{first.record}: {first.message} (all: .attrs['problems'])",
            stacklevel=stacklevel,
        )
