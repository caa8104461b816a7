"""Checks of the arguments of `plan`, and which of them is solved for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evaltoolkit.errors import EvalToolkitError
from evaltoolkit.stats.checks import choice, fraction, whole

METHODS = {
    "t": "paired t",
    "mcnemar_midp": "McNemar mid-p, exact power",
    "mcnemar_exact": "McNemar exact, exact power",
    "connor": "McNemar, Connor's formula",
    "miller": "normal approximation, Miller's formula",
    "tost": "two one-sided t tests",
    "simulation": "paired t, simulated from the pilot",
}
"""What each method is called in tables and sentences."""

ONE_TRIAL = frozenset({"mcnemar_midp", "mcnemar_exact", "connor"})
TRIALS = (1, 2, 3, 5, 10)

Solved = Literal["n", "difference", "power"]


@dataclass(frozen=True)
class Arguments:
    """The arguments that describe how outcomes vary, checked."""

    sd: float | None
    agreement: float | None
    p_baseline: float | None
    p_candidate: float | None
    trial_variance: tuple[float, float] | None
    icc: float | None
    cluster_size: float | None

    @property
    def binary(self) -> bool:
        """Whether they describe 0/1 outcomes."""
        return any(v is not None for v in (self.agreement, self.p_baseline, self.p_candidate))


@dataclass(frozen=True)
class Question:
    """What is asked: two of n, difference and power, and how it will be tested."""

    solved: Solved
    n: tuple[int, ...]
    difference: float | None
    power: float
    alpha: float
    families: int
    margin: float | None
    method: str | None
    seed: int

    @property
    def level(self) -> float:
        """Level of one test: alpha shared out over the criteria."""
        return self.alpha / self.families


def question(
    n: int | Sequence[int] | None,
    difference: float | None,
    power: float | None,
    **how: float | str | None,
) -> Question:
    """Check what is asked and find what is to be solved for.

    Raises:
        EvalToolkitError: Not exactly one of n, difference and power is left open, or a value
            is out of range.
    """
    margin = _margin(how["margin"], how["method"])
    if difference is None and margin is not None:
        difference = 0.0
    solved = _solved(n, difference, power)
    if difference is not None:
        difference = _number(difference, "difference")
        _some_effect(difference, margin, how["method"])
    alpha = fraction(_number(how["alpha"], "alpha"), name="alpha")
    if alpha >= 0.5:
        raise _wrong("alpha", alpha, "it must be below 0.5")
    wanted = fraction(0.8 if power is None else _number(power, "power"), name="power")
    if wanted <= alpha:
        raise _wrong("power", power, f"it must exceed alpha ({alpha:g}), which chance alone gives")
    method = None if how["method"] is None else choice(str(how["method"]), METHODS, name="method")
    return Question(
        solved=solved,
        n=_sizes(n),
        difference=difference,
        power=wanted,
        alpha=alpha,
        families=whole(_number(how["families"], "families"), name="families", least=1),
        margin=margin,
        method=method,
        seed=whole(_number(how["seed"], "seed"), name="seed"),
    )


def _solved(n: object, difference: float | None, power: float | None) -> Solved:
    if n is None and difference is None:
        raise EvalToolkitError(
            "n and difference are both open; give difference= to learn how many examples it "
            "needs, n= to learn the smallest difference it can show, or both to learn the power",
            code="nothing_to_solve",
            path="difference",
        )
    if n is not None and difference is not None:
        if power is not None:
            raise EvalToolkitError(
                "n, difference and power are all given, so nothing is left to solve for; leave "
                "one of them out",
                code="nothing_to_solve",
                path="power",
            )
        return "power"
    return "n" if n is None else "difference"


def _some_effect(difference: float, margin: float | None, method: object) -> None:
    if margin is None and difference == 0:
        raise _wrong(
            "difference",
            difference,
            "no number of examples shows a difference of 0; give the smallest difference that "
            "matters, or margin= to plan for showing that there is none",
        )
    if margin is not None and difference <= -margin:
        raise _wrong(
            "difference",
            difference,
            f"with a margin of {margin:g} the true difference must lie above {-margin:g}",
        )
    if method == "tost" and margin is not None and difference >= margin:
        raise _wrong("difference", difference, f"it must lie within the margin of {margin:g}")


def _margin(value: object, method: object) -> float | None:
    if value is None:
        if method == "tost":
            raise EvalToolkitError(
                "method 'tost' plans for equivalence and needs margin=, the largest difference "
                "that does not matter",
                code="bad_margin",
                path="margin",
            )
        return None
    margin = _number(value, "margin")
    if margin <= 0:
        raise EvalToolkitError(
            f"margin is {value!r}; it must be a positive number in units of the criterion",
            code="bad_margin",
            path="margin",
            value=value,
        )
    return margin


def _sizes(n: int | Sequence[int] | None) -> tuple[int, ...]:
    if n is None:
        return ()
    many = [n] if isinstance(n, int | float | np.number) else list(n)
    if not many:
        raise _wrong("n", n, "give at least one number of examples")
    return tuple(whole(_number(each, "n"), name="n", least=2) for each in many)


def trial_grid(trials: int | Sequence[int] | None) -> tuple[int, ...] | None:
    """Check ``trials=``; None where it was left out."""
    if trials is None:
        return None
    many = [trials] if isinstance(trials, int | float | np.number) else list(trials)
    if not many:
        raise _wrong("trials", trials, "give at least one number of trials")
    return tuple(sorted({whole(_number(each, "trials"), name="trials", least=1) for each in many}))


def arguments(**values: object) -> Arguments:
    """Check the arguments that say how outcomes vary.

    Raises:
        EvalToolkitError: A value is out of range, or two of them do not go together.
    """
    numbers = {k: _optional(v, k) for k, v in values.items() if k != "trial_variance"}
    for name in ("agreement", "p_baseline", "p_candidate", "icc"):
        value = numbers[name]
        if value is not None and not 0 <= value <= 1:
            hint = f" (did you mean {value / 100:g}?)" if 1 < value <= 100 else ""
            raise _wrong(name, value, f"it must lie between 0 and 1{hint}")
    sd, size = numbers["sd"], numbers["cluster_size"]
    if sd is not None and sd <= 0:
        raise EvalToolkitError(
            f"sd is {sd!r}; without spread no number of examples follows, so it must be positive",
            code="no_spread",
            path="sd",
            value=sd,
        )
    if size is not None and size < 1:
        raise _wrong("cluster_size", size, "a cluster holds at least one example")
    given = Arguments(trial_variance=_trial_variance(values["trial_variance"]), **numbers)
    if sd is not None and given.binary:
        raise EvalToolkitError(
            "sd and agreement (or pass rates) both say how much differences vary; give one",
            code="bad_option",
            path="sd",
            value=sd,
        )
    return given


def rates_difference(given: Arguments, difference: float | None) -> float | None:
    """Complete the difference by the pass rates, or check that they agree.

    Raises:
        EvalToolkitError: They contradict one another, or a pass rate would leave 0 to 1.
    """
    old, new = given.p_baseline, given.p_candidate
    if old is not None and new is not None:
        if difference is not None and not math.isclose(difference, new - old, abs_tol=1e-9):
            raise _wrong(
                "difference",
                difference,
                f"the pass rates {old:g} and {new:g} differ by {new - old:g}; leave one out",
            )
        return new - old
    if difference is None:
        return None
    for name, rate in (
        ("p_baseline", None if new is None else new - difference),
        ("p_candidate", None if old is None else old + difference),
    ):
        if rate is not None and not -1e-12 <= rate <= 1 + 1e-12:
            raise _wrong(
                "difference", difference, f"it would make {name} {rate:g}, which is no pass rate"
            )
    return difference


def _trial_variance(value: object) -> tuple[float, float] | None:
    if value is None:
        return None
    pair = [value, value] if isinstance(value, int | float | np.number) else list(value)  # type: ignore[call-overload]
    if len(pair) != 2:
        raise _wrong("trial_variance", value, "give one number, or one for each system")
    numbers = [_number(each, "trial_variance") for each in pair]
    if min(numbers) < 0:
        raise _wrong("trial_variance", value, "a variance is not negative")
    return numbers[0], numbers[1]


def _optional(value: object, name: str) -> float | None:
    return None if value is None else _number(value, name)


def _number(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise _wrong(name, value, "it must be a number")
    number = float(value)
    if not math.isfinite(number):
        raise _wrong(name, value, "it must be a finite number")
    return number


def _wrong(name: str, value: object, remedy: str) -> EvalToolkitError:
    return EvalToolkitError(
        f"{name} is {value!r}; {remedy}", code="bad_option", path=name, value=value
    )
