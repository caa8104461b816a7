"""Scorers of text: equality, containment, edit distance, length, refusal."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from typing import ClassVar, Literal, Unpack

from evaltoolkit.errors import ScorerError
from evaltoolkit.models import Example, Kind, Output
from evaltoolkit.scorers.base import (
    BaseScorer,
    ComparingScorer,
    Naming,
    Unmeasurable,
    Verdict,
    answer_of,
    as_json,
    as_text,
    check_whole,
    is_array,
    is_object,
    is_several,
    need_package,
    reference_of,
    shorten,
)
from evaltoolkit.scorers.folding import Fold, apply_folds, check_folds, find_phrase


class ExactMatch(ComparingScorer):
    """1 where the answer equals the reference, else 0.

    As in autoevals 0.4.1: plain values are compared as text (123 equals "123"; 1.0 is not 1).
    Where either side is a dict or list, both are compared as JSON and a text that holds JSON is
    read first; the order of keys counts unless `ignore_key_order`. Unlike there, a value that
    cannot be JSON on the other side gives 0 and no TypeError, and without a reference or an
    answer nothing is scored.

    Args:
        fold: What to ignore in plain text: any of ``case``, ``accents``, ``punctuation``,
            ``whitespace``.
        ignore_key_order: Whether dicts with the same items in another order are equal.
        **naming: See `Naming`.

    Example:
        >>> scorer = ExactMatch(fold=("case", "whitespace"))
        >>> scorer.score(Output(text=" PARIS"), Example(id=1, reference="Paris")).score
        1.0
    """

    kind: ClassVar[Kind] = "binary"

    def __init__(
        self,
        *,
        fold: Collection[Fold] = (),
        ignore_key_order: bool = False,
        **naming: Unpack[Naming],
    ) -> None:
        super().__init__(**naming)
        self._fold = check_folds(fold)
        self._sorts = ignore_key_order

    def compare(self, actual: object, expected: object, /) -> Verdict:
        """Give 1 if the two are equal, else 0."""
        if _is_structure(actual) or _is_structure(expected):
            same = self._as_comparable(actual) == self._as_comparable(expected)
        else:
            same = self._folded(actual) == self._folded(expected)
        if same:
            return Verdict(1.0, label="equal")
        return Verdict(0.0, f"{shorten(actual)} is not {shorten(expected)}", label="different")

    def _folded(self, value: object) -> str:
        return apply_folds(str(value), self._fold)

    def _as_comparable(self, value: object) -> str:
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                return str(value)
        elif not _is_structure(value):
            return f"not JSON: {value!r}"
        return as_json(value, compact=True) if self._sorts else as_json(value)


def _is_structure(value: object) -> bool:
    return is_object(value) or is_array(value)


class Contains(BaseScorer):
    """1 where the answer contains one of the accepted phrases, else 0.

    Only whole words and numbers count, so "4" is not found in "14", "4.5" or "-4"; see
    `find_phrase`.

    Args:
        phrases: What to look for; default the reference: a text, or a list of accepted ones.
        require: ``"any"`` of the phrases or ``"all"`` of them.
        fold: What to ignore: any of ``case``, ``accents``, ``punctuation``, ``whitespace``.
        whole_words: False if pieces of words and numbers count too.
        **naming: See `Naming`.

    Raises:
        ScorerError: An option has a value that it cannot have.

    Example:
        >>> item = Example(id=1, reference=["Paris", "the French capital"])
        >>> Contains().score(Output(text="It is PARIS, of course."), item).score
        1.0
    """

    kind: ClassVar[Kind] = "binary"

    def __init__(
        self,
        phrases: str | Sequence[str] | None = None,
        *,
        require: Literal["any", "all"] = "any",
        fold: Collection[Fold] = ("case", "whitespace"),
        whole_words: bool = True,
        **naming: Unpack[Naming],
    ) -> None:
        super().__init__(**naming)
        if require not in ("any", "all"):
            msg = f"require is {require!r}; it must be 'any' or 'all'"
            raise ScorerError(msg, code="bad_option", path="require", value=require)
        if phrases is not None and not (isinstance(phrases, str) or is_several(phrases)):
            msg = f"phrases is {shorten(phrases)}; it must be a text or a list of texts"
            raise ScorerError(msg, code="bad_option", path="phrases", value=phrases)
        self._phrases = phrases
        self._needs_all = require == "all"
        self._fold = check_folds(fold)
        self._whole = whole_words

    def measure(self, output: Output, example: Example, /) -> Verdict:
        """Look for the phrases."""
        text = apply_folds(as_text(answer_of(output)), self._fold)
        accepted = self._accepted(example)
        starts = {p: find_phrase(text, accepted[p], whole_words=self._whole) for p in accepted}
        found = [phrase for phrase, start in starts.items() if start >= 0]
        missing = [phrase for phrase, start in starts.items() if start < 0]
        done = not missing if self._needs_all else bool(found)
        wanted = ", ".join(shorten(p, limit=40) for p in missing[:5])
        return Verdict(
            float(done),
            None if done else f"not found: {wanted}",
            {"found": found, "missing": missing},
            "found" if done else "not found",
        )

    def _accepted(self, example: Example) -> dict[str, str]:
        """Give the phrases to look for, each with its folded form."""
        given = reference_of(example) if self._phrases is None else self._phrases
        phrases = [as_text(phrase) for phrase in (given if is_several(given) else [given])]
        folded = {phrase: apply_folds(phrase, self._fold) for phrase in phrases}
        if not folded or not all(folded.values()):
            msg = f"the phrases to look for are empty: {shorten(given)}"
            raise Unmeasurable(msg)
        return folded


class Levenshtein(ComparingScorer):
    """Likeness of two texts: 1 - edit distance / length of the longer one.

    Counts code points, case-sensitive; two empty texts give 1. The formula and values are those
    of autoevals 0.4.1. Dicts and lists are compared as JSON text, other values by str().

    Args:
        fold: What to ignore: any of ``case``, ``accents``, ``punctuation``, ``whitespace``.
        max_chars: Longer texts are not scored, for the time grows with the product of lengths;
            None for no limit.
        **naming: See `Naming`.

    Raises:
        MissingDependencyError: The package rapidfuzz is not installed.

    Example:
        >>> scorer = Levenshtein(threshold=0.9)
        >>> scorer.score(Output(text="hello wrld"), Example(id=1, reference="hello world")).passed
        True
    """

    def __init__(
        self,
        *,
        fold: Collection[Fold] = (),
        max_chars: int | None = 100_000,
        **naming: Unpack[Naming],
    ) -> None:
        super().__init__(**naming)
        need_package("rapidfuzz", purpose="Levenshtein")
        self._fold = check_folds(fold)
        check_whole("max_chars", max_chars)
        self._max_chars = max_chars

    def compare(self, actual: object, expected: object, /) -> Verdict:
        """Give the likeness of the two, as text."""
        from rapidfuzz.distance import Levenshtein as Distance

        one, other = (apply_folds(as_text(value), self._fold) for value in (actual, expected))
        longest = max(len(one), len(other))
        if self._max_chars is not None and longest > self._max_chars:
            msg = f"the text has {longest} characters; at most {self._max_chars} are compared"
            raise Unmeasurable(msg)
        edits = Distance.distance(one, other)
        score = 1 - edits / longest if longest else 1.0
        return Verdict(
            score, f"{edits} edit(s) in {longest} characters", {"edits": edits, "length": longest}
        )


class LengthBounds(BaseScorer):
    """1 where the answer is as long as asked, else 0 or, graded, how near it comes.

    Args:
        least: Fewest characters or words allowed; None for no limit.
        most: Most allowed; None for no limit.
        unit: ``"chars"`` (code points) or ``"words"`` (between blanks).
        graded: Score length / least below the range and most / length above it.
        **naming: See `Naming`.

    Raises:
        ScorerError: There is no limit, one is no whole number from 0, or they are in the wrong
            order.

    Example:
        >>> scorer = LengthBounds(most=5, unit="words", graded=True)
        >>> scorer.score(Output(text="one two three four five " * 2), Example(id=1)).score
        0.5
    """

    def __init__(
        self,
        *,
        least: int | None = None,
        most: int | None = None,
        unit: Literal["chars", "words"] = "chars",
        graded: bool = False,
        **naming: Unpack[Naming],
    ) -> None:
        super().__init__(**naming)
        self._least, self._most = _check_limits(least, most)
        if unit not in ("chars", "words"):
            msg = f"unit is {unit!r}; it must be 'chars' or 'words'"
            raise ScorerError(msg, code="bad_option", path="unit", value=unit)
        self._unit = unit
        self._graded = graded
        if not graded:
            self._criterion = self._criterion.model_copy(update={"kind": "binary"})

    def measure(self, output: Output, example: Example, /) -> Verdict:
        """Count and compare with the limits."""
        del example
        text = as_text(answer_of(output))
        length = len(text.split()) if self._unit == "words" else len(text)
        nearness = self._nearness(length)
        score = nearness if self._graded else float(nearness == 1.0)
        allowed = f"{self._least or 0} to {'any' if self._most is None else self._most}"
        message = None if nearness == 1.0 else f"{length} {self._unit}; allowed: {allowed}"
        return Verdict(score, message, {"length": length, "unit": self._unit})

    def _nearness(self, length: int) -> float:
        if self._least is not None and length < self._least:
            return length / self._least
        if self._most is not None and length > self._most:
            return self._most / length
        return 1.0


def _check_limits(least: int | None, most: int | None) -> tuple[int | None, int | None]:
    check_whole("least", least)
    check_whole("most", most)
    wrong_order = least is not None and most is not None and least > most
    if (least is None and most is None) or wrong_order:
        msg = (
            f"least is {least} and most is {most}; give at least one of them, and least not "
            "above most"
        )
        raise ScorerError(msg, code="bad_limits", path="least", value=(least, most))
    return least, most


REFUSAL_PHRASES = (
    r"\bi(?:'m| am) (?:very |so |really )?sorry,? but (?:i|that|this|as)\b",
    r"\bi (?:can't|cannot|can not|won't|will not|must not) "
    r"(?:help|assist|comply|provide|answer|support|fulfil|fulfill|do that|discuss|engage)\b",
    r"\bi(?:'m| am) (?:unable|not able|not allowed|not permitted) to\b",
    r"\bi (?:have to|must|need to) (?:decline|refuse)\b",
    r"\bi (?:respectfully |politely )?(?:decline|refuse) to\b",
    r"\bas an ai(?: language)?(?: model| assistant)?,? i (?:can't|cannot|don't|do not|am not)\b",
)
"""Patterns of an English refusal, in lower case and with straight apostrophes."""


class Refusal(BaseScorer):
    """1 where the system refused to answer, else 0; lower is better.

    A refusal is a flag of the provider, an answer without a word, or one of a few English phrases
    near its start. The list is small and knows no other language; it will miss polite evasions
    and count an answer that opens with "I'm sorry, but that is wrong". Give your own patterns
    where that matters.

    Args:
        patterns: Regular expressions, matched without regard to case; default
            `REFUSAL_PHRASES`. They see at most `window` characters.
        window: How many characters from the start of the answer are searched.
        empty_counts: Whether an answer without a word is a refusal.
        **naming: See `Naming`.

    Raises:
        ScorerError: A pattern is no regular expression.

    Example:
        >>> Refusal().score(Output(text="I'm sorry, but I can't help."), Example(id=1)).score
        1.0
    """

    kind: ClassVar[Kind] = "binary"
    higher_is_better: ClassVar[bool] = False
    default_threshold: ClassVar[float | None] = 0.0

    def __init__(
        self,
        *,
        patterns: str | re.Pattern[str] | Iterable[str | re.Pattern[str]] = REFUSAL_PHRASES,
        window: int = 300,
        empty_counts: bool = True,
        **naming: Unpack[Naming],
    ) -> None:
        super().__init__(**naming)
        several = [patterns] if isinstance(patterns, str | re.Pattern) else patterns
        check_whole("window", window, or_none=False)
        self._patterns = [_compiled(pattern) for pattern in several]
        self._window = window
        self._empty_counts = empty_counts

    def measure(self, output: Output, example: Example, /) -> Verdict:
        """Look for a flag, for nothing at all, then for a phrase."""
        del example
        if output.refusal:
            return Verdict(1.0, "the provider says so", {"by": "provider"}, "refused")
        text = as_text(answer_of(output)).strip()
        if not text and self._empty_counts:
            return Verdict(1.0, "the answer is empty", {"by": "empty"}, "refused")
        start = " ".join(text[: self._window].replace("\u2019", "'").split())
        for pattern in self._patterns:
            match = pattern.search(start)
            if match:
                phrase = match.group()
                return Verdict(1.0, f"it says {shorten(phrase)}", {"by": "phrase"}, "refused")
        return Verdict(0.0, label="answered")


def _compiled(pattern: str | re.Pattern[str]) -> re.Pattern[str]:
    try:
        return pattern if isinstance(pattern, re.Pattern) else re.compile(pattern, re.IGNORECASE)
    except (re.error, TypeError) as error:
        msg = f"patterns holds {pattern!r}, which is no regular expression: {error}"
        raise ScorerError(msg, code="bad_pattern", path="patterns", value=pattern) from error
