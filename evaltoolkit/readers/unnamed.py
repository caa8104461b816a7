"""What some tools do not write down: who was evaluated, which example it was, which repeat.

The system is then named by the caller, the file or its folder; an example by a hash of its input;
repeats are numbered in the order of the file. Each such decision gives a note.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from datetime import datetime
from pathlib import Path

from evaltoolkit.readers.base import Reading
from evaltoolkit.readers.records import digest

# Names of files that say what is in them and not whose it is.
_GENERIC_NAMES = frozenset(
    {
        "data", "eval", "eval_result", "eval_results", "evals", "evaluation", "events", "examples",
        "experiment", "experiments", "feedback", "log", "logs", "metadata", "output", "outputs",
        "result", "results", "rows", "run", "runs", "scores", "summary",
    }
)  # fmt: skip


def system_name(
    path: Path,
    reading: Reading,
    *,
    told: Iterable[tuple[object, str]] = (),
    stem: str | None = None,
) -> tuple[str, list[str]]:
    """Name the system of a file that has no field for it.

    Args:
        path: The file.
        reading: The call; a name that the caller gave comes first.
        told: Names that may stand in the file or beside it, each with where it was found.
        stem: The file name without what the tool adds to it; by default without its suffix.

    Returns:
        The name, and notes on where it was taken from.
    """
    if reading.system:
        return reading.system, []
    for name, place in told:
        if isinstance(name, str) and name:
            return name, [f"system {name!r} taken from {place}"]
    name = path.stem if stem is None else stem
    folder = path.resolve().parent.name
    if name.lower() in _GENERIC_NAMES and folder:
        return folder, [f"system {folder!r} taken from the folder name: the file names none"]
    return name, [f"system {name!r} taken from the file name: the file names none"]


def content_ids(contents: Sequence[tuple[object, object]]) -> list[str]:
    """Give ids to examples that have none: a hash of the input.

    Where one input comes with different references these are different examples, so both are
    hashed.

    Args:
        contents: Input and reference of each record.

    Example:
        >>> ids = content_ids([("2+2", "4"), ("2+2", "4"), ("name one", "a"), ("name one", "b")])
        >>> ids[0] == ids[1], len(set(ids))
        (True, 3)
    """
    hashed = [(digest(given), digest(wanted)) for given, wanted in contents]
    wanted_by_input: dict[str, set[str]] = {}
    for given, wanted in hashed:
        wanted_by_input.setdefault(given, set()).add(wanted)
    return [
        given if len(wanted_by_input[given]) == 1 else digest([given, wanted])
        for given, wanted in hashed
    ]


def trial_numbers(keys: Iterable[Hashable]) -> tuple[list[int], list[str]]:
    """Number the repeats of each key from 0 in the given order, with a note if there are any.

    Example:
        >>> trial_numbers(["a", "b", "a"])[0]
        [0, 0, 1]
    """
    seen: Counter[Hashable] = Counter()
    trials = []
    for key in keys:
        trials.append(seen[key])
        seen[key] += 1
    repeated = sum(count > 1 for count in seen.values())
    note = f"{repeated} example(s) occur more than once: their repeats are numbered as trials"
    return trials, [note] if repeated else []


class Criteria:
    """Which criteria each example was judged by, to know what a crashed repeat has lost.

    Attributes:
        all: Every criterion of the file, in order of first appearance.
    """

    def __init__(self) -> None:
        self.all: dict[str, None] = {}
        self._by_example: dict[Hashable, dict[str, None]] = {}

    def add(self, example: Hashable, names: Iterable[str]) -> None:
        """Remember that an example was judged by these."""
        for name in names:
            self.all[name] = None
            self._by_example.setdefault(example, {})[name] = None

    def of(self, example: Hashable) -> list[str]:
        """Name the criteria of an example: those of its other repeats, else all of the file."""
        return list(self._by_example.get(example) or self.all)


def time_or_none(value: object) -> str | None:
    """Keep a time stamp that is one; some exports replace them by placeholders."""
    if not isinstance(value, str):
        return None
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return None
    return value
