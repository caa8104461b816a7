"""Read the verdict of a judge out of whatever it wrote; where it is not plain, say so.

A choice counts only where the judge states it as its choice: in a JSON object, on a line such as
``Choice: B``, or on a line of its own. A word that merely occurs in a sentence ("this is not
correct") is no verdict.
"""

from __future__ import annotations

import json
import re
import string
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evaltoolkit.errors import ScorerError, listed
from evaltoolkit.scorers.base import shorten

_LONGEST = 100_000
_MOST_OBJECTS = 1_000
_MOST_WORK = 40 * _LONGEST
_REASONS = ("reason", "reasoning", "rationale", "explanation")
_EDGES = " \t\r\n*_`\"'.,;:!?()[]{}#\u2018\u2019\u201c\u201d"
_THOUGHTS = re.compile(r"\A\s*<(think|thinking|thought)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_OPEN_THOUGHT = re.compile(r"\A\s*<(?:think|thinking|thought)>", re.IGNORECASE)
_LIKE_AN_OBJECT = re.compile(r'\{\s*"[^"\n]*"\s*:')
_FENCE = re.compile(r"^[ \t]*```[\w-]*[ \t]*$", re.MULTILINE)
_STATED = re.compile(
    r"^[ \t>*_#-]*(?:(?:my|the|final)\s+)*(choice|verdict|answer|grade)[ \t*_]*[:=](.+)$",
    re.MULTILINE | re.IGNORECASE,
)
_LOOSE = ("answer", "grade")
_TRAILING = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', re.DOTALL)
_LABELLED = re.compile(r"(.)\s*[().:\u2013\u2014-]\s*(\S.*)", re.DOTALL)
_NAMED = re.compile(r"(?:choice|option)\s+(.+)", re.DOTALL)


class UnclearReply(Exception):
    """A reply from which no single choice can be read; the text says why."""


@dataclass(frozen=True)
class Reading:
    """What a judge chose, as it stands in the list of choices, and its reason."""

    choice: str
    reason: str | None = None


class ChoiceList:
    """The choices of a judge, and the letters that stand for them.

    Letters are used where no choice is itself a single character.

    Args:
        choices: At least two different texts of one line.

    Raises:
        ScorerError: There are too few or too many, or two read alike.

    Example:
        >>> ChoiceList(["correct", "incorrect"]).labels
        ('A', 'B')
        >>> ChoiceList(["Y", "N"]).labels
        ('Y', 'N')
    """

    def __init__(self, choices: Sequence[str]) -> None:
        self.names = tuple(choices)
        folded = [fold_choice(name) for name in self.names]
        if not 2 <= len(folded) <= len(string.ascii_uppercase):
            msg = f"choices has {len(folded)} entries; give 2 to {len(string.ascii_uppercase)}"
            raise ScorerError(msg, code="bad_choices", path="choices", value=self.names)
        unusable = [n for n, f in zip(self.names, folded, strict=True) if not f or "\n" in n]
        alike = [n for n, f in zip(self.names, folded, strict=True) if folded.count(f) > 1]
        if unusable or alike:
            msg = (
                f"choices holds {listed(unusable or alike)}: each must be one line of text, and "
                "two that differ only in case or punctuation cannot be told apart in a reply"
            )
            raise ScorerError(msg, code="bad_choices", path="choices", value=self.names)
        self.has_letters = all(len(name) > 1 for name in folded)
        letters = string.ascii_uppercase[: len(folded)]
        self.labels = tuple(letters) if self.has_letters else self.names
        self._by_word = dict(zip(folded, self.names, strict=True))
        self._by_label = {
            fold_choice(label): name for label, name in zip(self.labels, self.names, strict=True)
        }

    def resolve(self, stated: object) -> str | None:
        """Find the choice that a statement names and nothing else; None where it is not plain.

        Example:
            >>> choices = ChoiceList(["correct", "incorrect"])
            >>> [choices.resolve(said) for said in ("b", "**Correct.**", "B) incorrect", "not A")]
            ['incorrect', 'correct', 'incorrect', None]
            >>> choices.resolve("A: incorrect") is None
            True
        """
        if isinstance(stated, bool | int | float):
            whole = isinstance(stated, float) and stated.is_integer()
            stated = str(int(stated) if whole else stated)
        if not isinstance(stated, str) or len(stated) > _LONGEST:
            return None
        said = fold_choice(stated)
        named = _NAMED.fullmatch(said)
        return self._exactly(said) or (self._exactly(fold_choice(named[1])) if named else None)

    def _exactly(self, said: str) -> str | None:
        """Find the choice that a folded text is: its word, its label, or both in agreement."""
        if said in self._by_word or said in self._by_label:
            return self._by_word.get(said) or self._by_label.get(said)
        both = _LABELLED.fullmatch(said)
        if both is None:
            return None
        letter = self._by_label.get(both[1])
        word = self._by_word.get(fold_choice(both[2]))
        return letter if letter == word else None


def fold_choice(text: str) -> str:
    """Bring a choice into the form in which choices are compared.

    Example:
        >>> fold_choice(" **Partly  Correct.** ")
        'partly correct'
    """
    plain = unicodedata.normalize("NFKC", text)
    return " ".join(plain.strip(_EDGES).casefold().split())


def read_reply(text: str, choices: ChoiceList) -> Reading:
    """Read the choice out of the reply of a judge.

    Objects in JSON are looked for first, also inside fences and prose, together with lines such
    as ``Choice: B``; if there is neither, a line that is a choice and nothing else. All that is
    found must agree.

    Args:
        text: The reply.
        choices: The choices.

    Returns:
        The choice and the reason.

    Raises:
        UnclearReply: There is no choice, an unknown one, or more than one.

    Example:
        >>> choices = ChoiceList(["correct", "incorrect"])
        >>> read_reply('Sure! {"reason": "as in the text", "choice": "a"}', choices)
        Reading(choice='correct', reason='as in the text')
    """
    if len(text) > _LONGEST:
        msg = f"the reply has {len(text)} characters; at most {_LONGEST} are read"
        raise UnclearReply(msg)
    spoken = _THOUGHTS.sub("", text, count=1)
    if _OPEN_THOUGHT.match(spoken):
        msg = "the reply ends before the judge has finished thinking"
        raise UnclearReply(msg)
    if not spoken.strip():
        msg = "the reply is empty"
        raise UnclearReply(msg)
    objects, prose = _split(_TRAILING.sub(r"\1", spoken))
    prose = _FENCE.sub("", prose)
    said = [found["choice"] for found in objects]
    choice = _agreed(said + _lines(prose, choices, certain=bool(said)), choices)
    around = prose.strip() if any(map(str.isalnum, prose)) else None
    reason = next((r for r in map(_reason_of, objects) if r), around)
    return Reading(choice, None if reason is None or choices.resolve(reason) else reason)


def _lines(prose: str, choices: ChoiceList, *, certain: bool) -> list[object]:
    """Find what the lines of a text state: after ``Choice:``, or where there is none, alone.

    ``Answer: Paris`` may also repeat what is graded; it counts where nothing else is stated.
    """
    found = [(word.casefold(), said.strip()) for word, said in _STATED.findall(prose)]
    plain: list[object] = [
        said for word, said in found if word not in _LOOSE or choices.resolve(said) is not None
    ]
    if plain or certain:
        return plain
    alone = [line for line in prose.splitlines() if choices.resolve(line) is not None]
    return [*alone] or [said for _, said in found]


def _agreed(stated: Sequence[object], choices: ChoiceList) -> str:
    wanted = listed(choices.names, limit=len(choices.names))
    if not stated:
        msg = f"the reply states no choice; the choices are {wanted}"
        raise UnclearReply(msg)
    found = [choices.resolve(one) for one in stated]
    unknown = [one for one, name in zip(stated, found, strict=True) if name is None]
    if unknown:
        msg = f"the reply chooses {shorten(unknown[0])}; the choices are {wanted}"
        raise UnclearReply(msg)
    names = list(dict.fromkeys(name for name in found if name is not None))
    if len(names) > 1:
        msg = f"the reply makes more than one choice: {listed(names)}"
        raise UnclearReply(msg)
    return names[0]


def _split(text: str) -> tuple[list[dict[str, Any]], str]:
    """Take the JSON objects that hold a choice out of a text; give them and what is left."""
    objects: list[dict[str, Any]] = []
    rest: list[str] = []
    end = 0
    for start, found, stop in _objects(text):
        objects.append(found)
        rest.append(text[end:start])
        end = max(end, stop)
    return objects, "".join([*rest, text[end:]])


def _objects(text: str) -> Iterator[tuple[int, dict[str, Any], int]]:
    """Find JSON objects with a choice, wherever they start, and where they end."""
    place, work = text.find("{"), 0
    for _ in range(_MOST_OBJECTS):
        if place < 0:
            return
        try:
            found, stop = _DECODER.raw_decode(text, place)
            work += stop - place
            for inner in _with_choice(found):
                yield place, inner, stop
        except json.JSONDecodeError as error:
            if _LIKE_AN_OBJECT.match(text, place):
                # What stands inside, such as a verdict that is quoted, is not what it says.
                msg = f"the reply holds JSON that is broken or cut off: {error}"
                raise UnclearReply(msg) from error
            work, stop = work + error.pos - place, place + 1
        except (ValueError, RecursionError):
            work, stop = work + len(text) - place, place + 1
        if work > _MOST_WORK:
            break
        place = text.find("{", stop)
    msg = f"the reply has more than {_MOST_OBJECTS} braces, or is nested too deeply to be read"
    raise UnclearReply(msg)


def _with_choice(value: object) -> Iterator[dict[str, Any]]:
    """Find the outermost objects that hold a choice, in their order."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict) and "choice" in one:
            yield one
        elif isinstance(one, dict | list):
            waiting.extend(reversed(list(one.values()) if isinstance(one, dict) else one))


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a dict with names in lower case; a choice that is given twice must be the same."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        key = name.strip().casefold()
        if key == "choice" and key in found and found[key] != value:
            value = f"{found[key]} and {value}"
        found[key] = value
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, strict=False)


def _reason_of(found: dict[str, Any]) -> str | None:
    for name in _REASONS:
        value = found.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return None
