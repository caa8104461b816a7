"""From what the scorers of an Inspect log said of a sample to its rows in the score table."""

from __future__ import annotations

from collections.abc import Iterator

from evaltoolkit.readers.base import Row
from evaltoolkit.readers.inspect_logs import Log
from evaltoolkit.readers.inspect_samples import Sample, lost
from evaltoolkit.readers.inspect_values import Judged, Measured

_LEFT_OUT = "this scorer gave the sample no score"


class Expected:
    """What every sample of a log was to be judged by.

    Args:
        log: The log, for runs in which no sample was judged.
        samples: All its samples.
    """

    def __init__(self, log: Log, samples: list[Sample]) -> None:
        self.by_name: dict[str, list[tuple[str, str]]] = {}
        for judged in (judged for sample in samples for judged in sample.judged):
            self.by_name.setdefault(judged.name, [(judged.name, judged.scorer)])
        for name, keys in _common_keys(samples).items():
            self.by_name[name] = [(key, log.scorers.title(name)) for key in keys]
        if not self.by_name:
            declared = log.scorers.declared
            self.by_name = {name: [(name, log.scorers.title(name))] for name in declared}

    @property
    def criteria(self) -> list[tuple[str, str]]:
        """All criteria, each with its scorer."""
        return [each for parts in self.by_name.values() for each in parts]

    def completed(self, judged: list[Judged]) -> Iterator[Judged]:
        """Go through what a sample was judged by, and what one of its scorers left out."""
        given: dict[str, list[Judged]] = {}
        for each in judged:
            given.setdefault(each.name, []).append(each)
        for name, parts in self.by_name.items():
            found = given.get(name) or [Judged(name, "", Measured(None, message=_LEFT_OUT), name)]
            first = found[0]
            if first.is_part or first.measured.score is not None:
                yield from found
            else:
                # A scorer of several criteria that gives one NaN has measured none of them.
                yield from (first._replace(criterion=key, scorer=by) for key, by in parts)


def _common_keys(samples: list[Sample]) -> dict[str, list[str]]:
    """Name for each score that is an object the keys that all its values share, if any."""
    common: dict[str, list[str]] = {}
    for sample in samples:
        keys: dict[str, list[str]] = {}
        for judged in sample.judged:
            if judged.is_part:
                keys.setdefault(judged.name, []).append(judged.criterion)
        for name, own in keys.items():
            common[name] = [key for key in common.get(name, own) if key in own]
    return {name: keys for name, keys in common.items() if keys}


def sample_rows(sample: Sample, expected: Expected) -> Iterator[Row]:
    """Give the rows of one sample, without its key: one for each criterion of the log."""
    if sample.error is not None:
        given = {(judged.criterion, judged.scorer): judged.measured for judged in sample.judged}
        for criterion, scorer in dict.fromkeys([*expected.criteria, *given]):
            measured = given.get((criterion, scorer), Measured(None))
            yield _row(criterion, scorer, lost(measured, sample.error), "system_error")
    elif not sample.judged:
        cut_off = sample.limit is not None
        reason = f"stopped at its {sample.limit} and not scored" if cut_off else "not scored"
        for criterion, scorer in expected.criteria:
            nothing = Measured(None, message=reason)
            yield _row(criterion, scorer, nothing, "system_error" if cut_off else "unscored")
    else:
        stopped = f"stopped at its {sample.limit}" if sample.limit else None
        for judged in expected.completed(sample.judged):
            told = judged.measured._replace(message=judged.measured.message or stopped)
            status = "unscored" if told.score is None else "scored"
            yield _row(judged.criterion, judged.scorer, told, status)


def _row(criterion: str, scorer: str, measured: Measured, status: str) -> Row:
    return {
        "criterion": criterion,
        "scorer": scorer,
        "score": measured.score,
        "label": measured.label,
        "status": status,
        "message": measured.message,
    }
