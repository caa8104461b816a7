"""Checks of the arguments of `compare` that several steps share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from evaltoolkit.errors import PairingError, listed, nearest, warn

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


def names_list(names: str | Iterable[str] | None) -> list[str] | None:
    """Accept one name or several."""
    if names is None:
        return None
    return [names] if isinstance(names, str) else [str(name) for name in names]


def margins_of(margin: Margin, criteria: Iterable[str]) -> dict[str, float]:
    """Resolve ``margin=`` to one positive number per criterion that has one.

    Raises:
        PairingError: A margin is not positive and finite, or names an unknown criterion.
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
    return {name: float(value) for name, value in given.items()}


def cluster_column(rows: pd.DataFrame, cluster: str | bool | None) -> str | None:
    """Resolve ``cluster=`` to the name of a column, or None where examples are independent."""
    if cluster is True:
        cluster = "cluster"
    if isinstance(cluster, str):
        return cluster
    has_column = "cluster" in rows.columns and rows["cluster"].notna().any()
    return "cluster" if cluster is None and has_column else None


def cluster_codes(units: pd.DataFrame, column: str) -> pd.Series:
    """Number the clusters of the units; an example without one is a cluster of its own."""
    names = units[column].astype("str")
    codes = pd.Series(pd.factorize(names, sort=True)[0], index=units.index)
    lonely = codes < 0
    if lonely.any() and not lonely.all():
        warn(
            f"{int(lonely.sum())} of {len(units)} examples have no {column}; each counts as a "
            "cluster of its own",
            stacklevel=5,
        )
    own = codes.max() + 1 + pd.Series(range(len(codes)), index=codes.index)
    return codes.where(~lonely, own)
