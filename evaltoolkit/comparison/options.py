"""Checks of the arguments of `compare` that several steps share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from evaltoolkit.criteria import CriterionInfo
from evaltoolkit.errors import PairingError, listed, nearest

Margin = float | Mapping[str, float] | None


def one_of(name: str, value: object, allowed: Sequence[str]) -> None:
    """Refuse a value that is not one of a few words."""
    if value not in allowed:
        raise PairingError(
            f"{name} is {value!r}; it must be one of {listed(allowed, limit=9)}",
            code="bad_option",
            path=name,
            value=value,
        )


def share(name: str, value: float) -> None:
    """Refuse a level that is not strictly between 0 and 1."""
    if not 0 < value < 1:
        hint = f" (did you mean {value / 100:g}?)" if 1 < value < 100 else ""
        raise PairingError(
            f"{name} is {value!r}; it must be between 0 and 1{hint}",
            code="bad_option",
            path=name,
            value=value,
        )


def at_least(name: str, value: object, least: int) -> None:
    """Refuse anything but a whole number from a least one on."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise PairingError(
            f"{name} is {value!r}; it must be a whole number from {least}",
            code="bad_option",
            path=name,
            value=value,
        )


def names_list(names: str | Iterable[str] | None) -> list[str] | None:
    """Accept one name or several."""
    if names is None:
        return None
    chosen = [names] if isinstance(names, str) else [str(name) for name in names]
    if not chosen:
        raise PairingError(
            "an empty list of names selects nothing; leave the argument out to take all",
            code="bad_option",
        )
    return chosen


def margins_of(
    margin: Margin, criteria: Mapping[str, CriterionInfo], *, alpha: float
) -> dict[str, float]:
    """Resolve ``margin=`` to one positive number per criterion that has one.

    Raises:
        PairingError: A margin is not positive and finite, is as wide as the criterion's whole
            range, or names an unknown criterion; or alpha leaves no interval at 1 - 2 alpha.
    """
    if margin is None:
        return {}
    known = list(criteria)
    given = dict(margin) if isinstance(margin, Mapping) else dict.fromkeys(known, float(margin))
    for name, value in given.items():
        if name not in known:
            raise PairingError(
                f"margin names the criterion {name!r}, which is not compared; "
                f"{nearest(name, known)}",
                code="unknown_criterion",
                path=f"margin[{name!r}]",
                value=name,
            )
        if not (value > 0 and math.isfinite(value)):
            raise PairingError(
                f"margin of {name!r} is {value!r}; it must be a positive number in the units of "
                "the criterion, fixed before looking at the scores",
                code="bad_margin",
                path=f"margin[{name!r}]",
                value=value,
            )
        span = criteria[name].upper_bound - criteria[name].lower_bound
        if value >= span:
            raise PairingError(
                f"margin of {name!r} is {value:g}, as wide as its whole range ({span:g}), so it "
                "could exclude nothing; give a smaller one, by name where criteria have "
                f"different units: margin={{{name!r}: ...}}",
                code="bad_margin",
                path=f"margin[{name!r}]",
                value=value,
            )
    if alpha >= 0.5:
        raise PairingError(
            f"alpha is {alpha!r}; with a margin it must be below 0.5",
            code="bad_option",
            path="alpha",
            value=alpha,
        )
    return {name: float(value) for name, value in given.items()}
