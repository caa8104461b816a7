"""Checks of the arguments that both rankings share."""

from __future__ import annotations

from importlib import metadata

from evaltoolkit import stats
from evaltoolkit.errors import PairingError, listed
from evaltoolkit.stats.checks import fraction, whole

MISSING = ("report", "worst", "as_failure")


def checked_correction(correction: str, *, joint: bool) -> str:
    """Return the name of a correction; ``maxt`` only where joint flips are possible.

    Raises:
        EvalToolkitError: The method is unknown, or is max-t where it is not offered.
    """
    if correction == "maxt" and joint:
        return correction
    if correction == "maxt":
        raise PairingError(
            "correction='maxt' flips differences of scores, which preferences do not have; use "
            f"one of {listed(stats.METHODS, limit=20)}",
            code="bad_option",
            path="correction",
            value=correction,
        )
    return stats.method_name(correction)


def check_missing(missing: str) -> None:
    """Refuse an unknown treatment of missing scores."""
    if missing not in MISSING:
        raise PairingError(
            f"missing is {missing!r}; it must be one of {listed(MISSING)}",
            code="bad_option",
            path="missing",
            value=missing,
        )


def check_numbers(*, alpha: float, seed: int = 0, draws: int = 1) -> None:
    """Refuse a level outside 0 to 1, a negative seed, or no draws."""
    fraction(alpha, name="alpha")
    whole(seed, name="seed", least=0)
    whole(draws, name="draws", least=1)


def versions() -> dict[str, str]:
    """Versions of what computed the numbers."""
    names = ("evaltoolkit", "numpy", "pandas", "scipy", "statsmodels")
    return {name: _version(name) for name in names}


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "unknown"
