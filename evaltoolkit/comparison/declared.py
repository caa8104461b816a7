"""Check an analysis against its declaration: what is filled in, and what deviates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from evaltoolkit.comparison.declarations import CHOICES, Choice, Declaration, plain
from evaltoolkit.errors import PairingError, listed

DEFAULTS: Mapping[str, Any] = {
    "correction": "maxt",
    "alpha": 0.05,
    "measure": "score",
    "missing": "report",
}
"""What `compare` takes where neither the call nor a declaration says anything."""


class Resolved(NamedTuple):
    """The choices of an analysis, and what the settings say about its declaration."""

    choices: dict[str, Any]
    declaration: dict[str, Any] | None

    @property
    def warning(self) -> str:
        """What a reader must know first; "" where nothing deviates."""
        if self.declaration is None or not self.declaration["deviations"]:
            return ""
        said = "; ".join(self.declaration["deviations"])
        return (
            f"the analysis deviates from the declaration of {self.declaration['declared_at']}: "
            f"{said}"
        )


def resolve(
    passed: Mapping[str, Any], declaration: Declaration | None, scores: pd.DataFrame
) -> Resolved:
    """Fill choices that were left out: from the declaration, else with the defaults.

    Args:
        passed: The arguments by the names of `CHOICES`, None where they were left out.
        declaration: What was declared, or None.
        scores: The score table.
    """
    given = {name: value for name, value in passed.items() if value is not None}
    if declaration is None:
        return Resolved({**dict.fromkeys(CHOICES), **DEFAULTS, **given}, None)
    declared = dict(declaration.choices)
    used = {**dict.fromkeys(CHOICES), **DEFAULTS, **declared, **given}
    deviations = [] if declaration.intact else [
        f"{declaration.path} was changed after it was saved (its digest does not match)"
    ]  # fmt: skip
    for name, value in given.items():
        if name in ("criteria", "candidates"):
            continue
        deviations += _contradiction(name, plain(name, value), declared)
    deviations += _candidates(given.get("candidates"), declared.get("candidates"))
    deviations += _criteria(given, declared, used, scores)
    if "margin" not in given and isinstance(used["margin"], Mapping):
        # A margin of a criterion that is not compared is no mistake of this call.
        compared = plain("criteria", used["criteria"]) or _present(scores, used)
        used["margin"] = {n: v for n, v in used["margin"].items() if n in compared} or None
    described = {
        "declared_at": declaration.declared_at,
        "digest": declaration.digest,
        "path": declaration.path,
        "choices": declared,
        "note": declaration.note,
        "deviations": deviations,
    }
    return Resolved(used, described)


def _contradiction(name: str, value: Choice, declared: Mapping[str, Any]) -> list[str]:
    if name in declared:
        same = value == declared[name]
        return [] if same else [f"{name} is {_said(value)}, declared was {_said(declared[name])}"]
    if name == "baseline" or (name in DEFAULTS and value == plain(name, DEFAULTS[name])):
        # Systems must be named somewhere, and a default said aloud is still the default.
        return []
    return [f"{name} is {_said(value)}, which was not declared"]


def _said(value: Choice) -> str:
    if isinstance(value, list):
        return listed(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {one}" for key, one in value.items())
    return repr(value)


def _candidates(given: Choice, declared: Sequence[str] | None) -> list[str]:
    asked = None if given is None else plain("candidates", given)
    if declared is None or asked is None:
        return []
    outside = [name for name in asked if name not in declared]
    left_out = [name for name in declared if name not in asked]
    return [
        *(f"candidate {name!r} was not declared" for name in outside),
        *(f"the declared candidate {name!r} is not compared here" for name in left_out),
    ]


def _criteria(
    given: Mapping[str, Any],
    declared: Mapping[str, Any],
    used: dict[str, Any],
    scores: pd.DataFrame,
) -> list[str]:
    """Limit the criteria to those that exist, and name those that are absent or added."""
    family = declared.get("criteria")
    asked = plain("criteria", given["criteria"]) if "criteria" in given else None
    if family is None:
        return [] if asked is None else [f"criteria are {listed(asked)}, none were declared"]
    if asked is not None:
        outside = [f"the criterion {n!r} was not declared" for n in asked if n not in family]
        return outside + [f"the declared criterion {n!r} was left out"
                          for n in family if n not in asked]  # fmt: skip
    present = _present(scores, used)
    absent = [name for name in family if name not in present]
    if len(absent) == len(family):
        raise PairingError(
            f"none of the declared criteria is in the table: {listed(family)}; it has "
            f"{listed(sorted(present))}",
            code="unknown_criterion",
            path="declaration",
            value=absent,
        )
    used["criteria"] = [name for name in family if name in present]
    return [f"the declared criterion {name!r} is absent from the table" for name in absent]


def _present(scores: pd.DataFrame, used: Mapping[str, Any]) -> set[str]:
    """Names of the criteria that some compared system has."""
    if not {"system", "criterion"} <= set(scores.columns):
        return set()
    systems = scores["system"].astype("str")
    candidates = plain("candidates", used["candidates"]) if used["candidates"] else None
    rows = scores
    if candidates is not None:
        rows = scores[systems.isin([str(used["baseline"]), *candidates])]
    return set(rows["criterion"].astype("str"))
