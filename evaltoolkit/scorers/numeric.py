"""Scorers of numbers: how near, and whether the number in an answer is right."""

from __future__ import annotations

import math
import numbers
import re
from decimal import Decimal
from typing import ClassVar, Literal, Unpack

from evaltoolkit.errors import ScorerError
from evaltoolkit.models import Kind
from evaltoolkit.scorers.base import (
    ComparingScorer,
    Naming,
    Unmeasurable,
    Verdict,
    as_text,
    shorten,
)

DecimalMark = Literal[".", ","]
"""The mark before the decimals; the other one separates thousands."""


class NumericDiff(ComparingScorer):
    """Nearness of two numbers: 1 - |e - o| / (|e| + |o|); both 0 gives 1.

    The formula and values are those of autoevals 0.4.1 (numbers of opposite sign give 0). A text
    is accepted if it is a number and nothing else. What is no finite number is not scored: there
    a NaN went through as a score and a text raised TypeError.

    Args:
        decimal: The mark before the decimals in texts.
        **naming: See `Naming`; the default threshold is 0.9.

    Example:
        >>> from evaltoolkit.models import Example, Output
        >>> NumericDiff().score(Output(text="105"), Example(id=1, reference=100)).score
        0.975609756097561
    """

    default_threshold: ClassVar[float | None] = 0.9

    def __init__(self, *, decimal: DecimalMark = ".", **naming: Unpack[Naming]) -> None:
        super().__init__(**naming)
        self._decimal: DecimalMark = _check_decimal(decimal)

    def compare(self, actual: object, expected: object, /) -> Verdict:
        """Give the nearness of the two."""
        given, known = (self._number(value) for value in (actual, expected))
        return Verdict(_nearness(given, known), f"{given:.12g} against {known:.12g}")

    def _number(self, value: object) -> float:
        number = parse_number(value, decimal=self._decimal) if isinstance(value, str) else value
        if not isinstance(number, numbers.Real | Decimal):
            msg = f"{shorten(value)} is not a number"
            raise Unmeasurable(msg)
        return _finite(number, value)


class NumericAnswer(ComparingScorer):
    """1 where the number in the answer is the number in the reference, else 0.

    The number is taken out of running text, the last one by default. A text without a number
    cannot be right and gives 0; a reference without one is not scored.

    Args:
        which: ``"last"`` or ``"first"`` number of the answer and of the reference, or ``"only"``:
            several different numbers are not scored.
        rel_tol: Allowed difference as a share of the reference.
        abs_tol: Allowed difference as a number.
        decimal: The mark before the decimals in texts.
        **naming: See `Naming`.

    Example:
        >>> from evaltoolkit.models import Example, Output
        >>> item = Example(id=1, reference=1200)
        >>> NumericAnswer().score(Output(text="3 boxes of $400 make $1,200."), item).score
        1.0
    """

    kind: ClassVar[Kind] = "binary"

    def __init__(
        self,
        *,
        which: Literal["last", "first", "only"] = "last",
        rel_tol: float = 1e-9,
        abs_tol: float = 0.0,
        decimal: DecimalMark = ".",
        **naming: Unpack[Naming],
    ) -> None:
        super().__init__(**naming)
        if which not in ("last", "first", "only"):
            msg = f"which is {which!r}; it must be 'last', 'first' or 'only'"
            raise ScorerError(msg, code="bad_option", path="which", value=which)
        self._which = which
        self._rel_tol, self._abs_tol = _check_tolerances(rel_tol, abs_tol)
        self._decimal: DecimalMark = _check_decimal(decimal)

    def compare(self, actual: object, expected: object, /) -> Verdict:
        """Give 1 if the two numbers agree, else 0."""
        known = self._number(expected)
        if known is None or not math.isfinite(known):
            msg = f"the reference {shorten(expected)} holds no number that can be compared"
            raise Unmeasurable(msg)
        given = self._number(actual)
        if given is None:
            return Verdict(0.0, "the answer holds no number", label="no number")
        allowed = max(self._abs_tol, self._rel_tol * abs(known))
        right = abs(given - known) <= allowed
        details = {"found": given if math.isfinite(given) else str(given), "expected": known}
        message = f"{given:.12g} against {known:.12g}"
        return Verdict(float(right), message, details, "right" if right else "wrong")

    def _number(self, value: object) -> float | None:
        if isinstance(value, numbers.Real | Decimal):
            return _finite(value, value)
        found = find_numbers(as_text(value), decimal=self._decimal)
        if self._which == "only" and len(set(found)) > 1:
            msg = f"{shorten(value)} holds several numbers"
            raise Unmeasurable(msg)
        if not found:
            return None
        return found[0] if self._which == "first" else found[-1]


def find_numbers(text: str, *, decimal: DecimalMark = ".") -> list[float]:
    """Take the numbers out of running text, in order.

    Understood: signs (- and U+2212, where they do not join two words or numbers), thousands
    (1,234,567; also with ' or a no-break or thin space), decimals (0.5, .5), exponents (1e-3) and
    plain fractions (3/4). Numbers that are part of a word (H2O) or of a version (1.2.3) are left
    alone as far as they can be told; per cent signs and units are ignored, number words too. What
    is too large for a float is infinite, and x/0 is NaN. Time is linear in the length of the text.

    Example:
        >>> find_numbers("from -1,234.5 to 3/4, i.e. 2e3")
        [-1234.5, 0.75, 2000.0]
    """
    return [_value(match, decimal) for match in _IN_TEXT[_check_decimal(decimal)].finditer(text)]


def parse_number(text: str, *, decimal: DecimalMark = ".") -> float | None:
    """Read a text that is a number and nothing else; None if it is not.

    Example:
        >>> parse_number(" 1,200 "), parse_number("1200 dollars")
        (1200.0, None)
    """
    match = _IN_TEXT[_check_decimal(decimal)].fullmatch(text.strip())
    return _value(match, decimal) if match else None


def _pattern(decimal: DecimalMark) -> re.Pattern[str]:
    point = re.escape(decimal)
    group = "[" + (",.".replace(decimal, "")) + "'\u2019\u00a0\u2009\u202f]"
    whole = rf"(?:[0-9]{{1,3}}(?:{group}[0-9]{{3}})+(?![0-9])|[0-9]+)"
    return re.compile(
        rf"(?<![^\W_])(?<![0-9]{point})(?<![0-9]/)"
        r"(?P<sign>(?<![\w)\]])[-+\u2212])?"
        rf"(?P<number>{whole}(?:{point}[0-9]+)?|{point}[0-9]+)"
        r"(?:[eE](?P<exponent>[-+]?[0-9]{1,4})(?!\w)|/(?P<divisor>[0-9]+)(?![0-9/]))?"
    )


_IN_TEXT: dict[DecimalMark, re.Pattern[str]] = {".": _pattern("."), ",": _pattern(",")}


def _value(match: re.Match[str], decimal: DecimalMark) -> float:
    digits = "".join(c for c in match["number"] if c.isdigit() or c == decimal)
    number = float(digits.replace(decimal, ".") + f"e{match['exponent'] or 0}")
    if match["divisor"]:
        divisor = float(match["divisor"])
        number = number / divisor if divisor else math.nan
    return -number if match["sign"] in ("-", "\u2212") else number


def _finite(number: numbers.Real | Decimal, value: object) -> float:
    try:
        finite = float(number)
    except (OverflowError, ValueError):  # too large, or a signalling NaN
        finite = math.inf
    if not math.isfinite(finite):
        msg = f"{shorten(value)} is not a finite number"
        raise Unmeasurable(msg)
    return finite


def _nearness(given: float, known: float) -> float:
    total = abs(known) + abs(given)
    if total == 0:
        return 1.0
    if math.isinf(total):
        given, known = given / 4, known / 4
        total = abs(known) + abs(given)
    return 1 - abs(known - given) / total


def _check_decimal(decimal: DecimalMark) -> DecimalMark:
    if decimal not in (".", ","):
        msg = f"decimal is {decimal!r}; it must be '.' or ','"
        raise ScorerError(msg, code="bad_option", path="decimal", value=decimal)
    return decimal


def _check_tolerances(rel_tol: float, abs_tol: float) -> tuple[float, float]:
    given: dict[str, object] = {"rel_tol": rel_tol, "abs_tol": abs_tol}
    for name, value in given.items():
        if not isinstance(value, int | float) or not 0 <= value < math.inf:
            msg = f"{name} is {shorten(value)}; it must be a finite number from 0"
            raise ScorerError(msg, code="bad_option", path=name, value=value)
    return rel_tol, abs_tol
