"""The errors and the warning that the whole toolkit shares.

Every error says what came, what is allowed and what to do. The parts are also kept as
attributes, so that a program can act on them without parsing the sentence.
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Hashable, Iterable


class EvalToolkitError(ValueError):
    """Base class of all errors raised on purpose by evaltoolkit.

    Attributes:
        code: A short, stable name of the problem, e.g. ``"unknown_system"``.
        path: Where it is: a file and record, or a place such as ``criteria[2].weight``.
        value: What was found there.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str = "invalid",
        path: str | None = None,
        value: object = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.path = path
        self.value = value


class ReadError(EvalToolkitError):
    """A file cannot be read as evaluation results."""


class SchemaError(EvalToolkitError):
    """A table breaks the rules of the score, outputs or details table.

    Attributes:
        rows: Index labels of the rows at fault, where the error is about single cells.
    """

    rows: tuple[Hashable, ...] = ()


class PairingError(EvalToolkitError):
    """Two systems cannot be paired example by example as asked."""


class ScorerError(EvalToolkitError):
    """A scorer is misconfigured or broke while it measured."""


class PolicyError(EvalToolkitError):
    """A decision policy is malformed or does not fit the results."""


class MissingDependencyError(EvalToolkitError, ImportError):
    """An optional package is needed and not installed."""

    def __init__(self, package: str, *, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}, which is not installed; "
            f"install it with: pip install 'evaltoolkit[{extra}]'",
            code="missing_dependency",
            value=package,
        )


class EvalToolkitWarning(UserWarning):
    """Something a reviewer must know; raised once per cause, with counts."""


def warn(message: str, *, stacklevel: int = 3) -> None:
    """Issue an `EvalToolkitWarning` that points at the caller of the public function."""
    warnings.warn(message, EvalToolkitWarning, stacklevel=stacklevel)


def nearest(name: object, known: Iterable[object], *, count: int = 3) -> str:
    """Say which known names come closest to a wrong one, for the end of an error message.

    Example:
        >>> nearest("gtp-4", ["gpt-4", "claude"])
        "did you mean 'gpt-4'?"
        >>> nearest("zzz", ["gpt-4", "claude"])
        "known: 'claude', 'gpt-4'"
    """
    names = sorted({str(item) for item in known})
    close = difflib.get_close_matches(str(name), names, n=count, cutoff=0.5)
    if close:
        return "did you mean " + " or ".join(repr(item) for item in close) + "?"
    return "known: " + listed(names) if names else "there is none"


def _plain(item: object) -> object:
    """Turn a numpy scalar into the Python number that people expect to read."""
    to_python = getattr(item, "item", None)
    return to_python() if callable(to_python) else item


def listed(items: Iterable[object], *, limit: int = 5) -> str:
    """List the first few items as text, with the count of the rest.

    Example:
        >>> listed(["a", "b", "c"], limit=2)
        "'a', 'b' and 1 more"
    """
    all_items = [_plain(item) for item in items]
    shown = ", ".join(repr(item) for item in all_items[:limit])
    rest = len(all_items) - limit
    return f"{shown} and {rest} more" if rest > 0 else shown
