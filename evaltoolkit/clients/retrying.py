"""How long to wait before a call is tried again, as pure functions of what came back."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite

from evaltoolkit.clients.options import is_number
from evaltoolkit.errors import ScorerError

_TEMPORARY = frozenset({408, 425, 429, *range(500, 600)} - {501, 505})


@dataclass(frozen=True)
class Retries:
    """How often a call is tried, and how long the waits between are.

    Waits grow exponentially and are shortened at random by up to a half, so that many callers do
    not come back at once. The same seed and call give the same waits.

    Attributes:
        attempts: Tries in all, the first included.
        first_s: Longest wait before the second try, in seconds.
        factor: Growth of the wait from try to try.
        longest_s: No wait is longer; a server that asks for a longer one is not called again.
        seed: Seed of the random part.

    Example:
        >>> [round(wait, 2) for wait in Retries(attempts=4, first_s=1).waits("a call")]
        [0.69, 1.32, 2.54]
    """

    attempts: int = 6
    first_s: float = 0.5
    factor: float = 2.0
    longest_s: float = 30.0
    seed: int = 0

    def __post_init__(self) -> None:
        lengths = (self.first_s, self.factor, self.longest_s)
        if not is_number(self.attempts, least=1, whole=True) or not all(map(is_number, lengths)):
            msg = (
                f"{self} cannot be followed; attempts must be a whole number from 1, the others "
                "numbers from 0"
            )
            raise ScorerError(msg, code="bad_option", path="retries", value=self)

    def waits(self, call: str) -> Iterator[float]:
        """Give the wait before each further try of a call, in seconds."""
        chance = random.Random(f"{self.seed}/{call}")
        for attempt in range(self.attempts - 1):
            full = self._full(attempt)
            yield full * (1 - chance.random() / 2)

    def _full(self, attempt: int) -> float:
        try:
            return min(self.first_s * self.factor**attempt, self.longest_s)
        except OverflowError:
            return self.longest_s


def is_temporary(status: int) -> bool:
    """Whether an HTTP status may be another one when the call is tried again.

    Example:
        >>> [is_temporary(status) for status in (200, 400, 401, 429, 500, 501, 503)]
        [False, False, False, True, True, False, True]
    """
    return status in _TEMPORARY


def asked_wait(header: str | None, *, now: datetime | None = None) -> float | None:
    """Read how long a server asks to be left alone: the header ``Retry-After``.

    Args:
        header: Seconds, or a date in the form of HTTP; anything else counts as no header.
        now: Time to reckon a date from; default the present.

    Returns:
        Seconds, 0 for a date in the past; None where there is nothing to go by.

    Example:
        >>> asked_wait("2"), asked_wait("soon"), asked_wait("Thu, 01 Jan 1970 00:00:00 GMT")
        (2.0, None, 0.0)
    """
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        return _until(header, now or datetime.now(UTC))
    return seconds if isfinite(seconds) and seconds >= 0 else None


def _until(header: str, now: datetime) -> float | None:
    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())
