"""Make texts comparable: ignore case, accents, punctuation or spacing, and find whole phrases."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Mapping
from typing import Literal

from evaltoolkit.errors import ScorerError, listed, nearest

Fold = Literal["case", "accents", "punctuation", "whitespace"]
"""What a comparison may ignore."""

_SIGNS = "+-\u2212."
_SEPARATORS = ".,"
_INSIDE_WORDS = "'\u2019."


def fold_case(text: str) -> str:
    """Ignore upper and lower case, also where they differ in length (ß and SS)."""
    return text.casefold()


def fold_accents(text: str) -> str:
    """Ignore accents and the way they are encoded: é, e + U+0301 and e become one.

    Marks of scripts in which they carry the vowels (Devanagari, Thai, ...) stay.
    """
    plain: list[str] = []
    latin = False
    for char in unicodedata.normalize("NFKD", text):
        if not unicodedata.combining(char):
            latin = char.isalpha() and ord(char) < _END_OF_ACCENTED_SCRIPTS
        elif latin:
            continue
        plain.append(char)
    return unicodedata.normalize("NFC", "".join(plain))


def fold_punctuation(text: str) -> str:
    """Ignore punctuation and symbols, but not the ones that make a number.

    Apostrophes and full stops inside a word vanish (don't, U.S.), other marks become spaces;
    signs, decimal points and separators of thousands stay.

    Example:
        >>> fold_punctuation("Don't pay -3.50, (or else)!").split()
        ['Dont', 'pay', '-3.50', 'or', 'else']
    """
    marks = {char for char in set(text) if unicodedata.category(char)[0] in "PS"}
    if not marks:
        return text
    return "".join(
        _folded_mark(text, place) if char in marks else char for place, char in enumerate(text)
    )


def fold_whitespace(text: str) -> str:
    """Ignore spacing: every run of blanks and line breaks is one space, none at the ends."""
    return " ".join(text.split())


_FOLDERS: Mapping[Fold, Callable[[str], str]] = {
    "case": fold_case,
    "accents": fold_accents,
    "punctuation": fold_punctuation,
    "whitespace": fold_whitespace,
}

_END_OF_ACCENTED_SCRIPTS = 0x0530
"""Latin, Greek and Cyrillic letters lie below."""


def check_folds(fold: Collection[Fold] | Fold) -> tuple[Fold, ...]:
    """Check names of foldings and put them in the order in which they must be applied.

    Raises:
        ScorerError: A name is unknown.
    """
    asked: object = (fold,) if isinstance(fold, str) else fold
    if not isinstance(asked, Collection):
        msg = f"fold is {asked!r}; it must be a list of {listed(_FOLDERS)}"
        raise ScorerError(msg, code="bad_option", path="fold", value=fold)
    unknown = [name for name in asked if name not in list(_FOLDERS)]
    if unknown:
        msg = (
            f"fold holds {listed(unknown)}; it may hold {listed(_FOLDERS)} "
            f"({nearest(unknown[0], _FOLDERS)})"
        )
        raise ScorerError(msg, code="bad_option", path="fold", value=fold)
    return tuple(name for name in _FOLDERS if name in asked)


def fold_text(text: str, fold: Collection[Fold]) -> str:
    r"""Apply foldings in their order.

    Example:
        >>> fold_text("  CAFÉ,\n noir ", ("case", "accents", "punctuation", "whitespace"))
        'cafe noir'
    """
    return apply_folds(text, check_folds(fold))


def apply_folds(text: str, folds: tuple[Fold, ...]) -> str:
    """Apply foldings that `check_folds` has put in order."""
    for name in folds:
        text = _FOLDERS[name](text)
    return text


def find_phrase(text: str, phrase: str, *, whole_words: bool = True) -> int:
    """Find a phrase in a text.

    With `whole_words` the phrase must not be a piece of a longer word or number: "4" is neither
    in "14", nor in "4.5", "1,400" or "-4". In scripts that write no spaces between words (Chinese,
    Japanese, Thai, Lao, Khmer, Burmese) or hang particles on them (Korean) a piece counts.

    Args:
        text: Where to look.
        phrase: What to look for, not empty.
        whole_words: Whether pieces of words and numbers do not count.

    Returns:
        Where the first one starts; -1 if there is none.

    Example:
        >>> find_phrase("the answer is 4.", "4"), find_phrase("it is 14", "4")
        (14, -1)
    """
    start = text.find(phrase)
    while start >= 0 and whole_words and not _stands_alone(text, start, start + len(phrase)):
        start = text.find(phrase, start + 1)
    return start


def _folded_mark(text: str, place: int) -> str:
    char, before, after = text[place], text[place - 1 : place], text[place + 1 : place + 2]
    if char in _SEPARATORS and before.isdigit() and after.isdigit():
        return char
    if char in _SIGNS and after.isdigit() and not before.isalnum():
        return char
    inside = char in _INSIDE_WORDS and before.isalpha() and after.isalpha()
    return "" if inside else " "


def _stands_alone(text: str, start: int, end: int) -> bool:
    return not (_runs_on_before(text, start) or _runs_on_after(text, end))


def _runs_on_before(text: str, start: int) -> bool:
    """Whether the word or number that starts here has begun earlier."""
    first, before = text[start], text[start - 1 : start]
    earlier = text[start - 2 : start - 1] if start > 1 else ""
    if _is_joined(first) and _is_joined(before):
        return True
    if not first.isdigit():
        return False
    is_fraction = before in _SEPARATORS and (earlier.isdigit() or before == ".")
    is_signed = before in ("-", "\u2212") and not _is_joined(earlier)
    return bool(before) and (is_fraction or is_signed)


def _runs_on_after(text: str, end: int) -> bool:
    """Whether the word or number that ends here goes on."""
    last, after, later = text[end - 1], text[end : end + 1], text[end + 1 : end + 2]
    if _is_joined(last) and _is_joined(after):
        return True
    return bool(after) and last.isdigit() and after in _SEPARATORS and later.isdigit()


def _is_joined(char: str) -> bool:
    """Whether a character makes one word with its neighbours."""
    if not char:
        return False
    if char.isascii():
        return char.isalnum() or char == "_"
    return unicodedata.category(char)[0] in "LNM" and not _is_unspaced(ord(char))


def _is_unspaced(code: int) -> bool:
    return any(first <= code <= last for first, last in _UNSPACED)


_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1100, 0x11FF),  # Hangul letters
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x9FFF),  # Chinese characters, Japanese syllables
    (0xA960, 0xA97F),  # Hangul letters
    (0xAC00, 0xD7FF),  # Hangul syllables
    (0xF900, 0xFAFF),  # Chinese characters
    (0x20000, 0x3FFFF),  # Chinese characters
)
