"""What the scorers of autoevals are called, what they need, and which of them ask a judge."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from evaltoolkit.errors import ScorerError, nearest
from evaltoolkit.models import Example, Output
from evaltoolkit.scorers.adapters.foreign import (
    Arguments,
    asked_text,
    checked_arguments,
    further_arguments,
)
from evaltoolkit.scorers.base import Unmeasurable, check_whole, shorten
from evaltoolkit.scorers.parsing import as_list

NEEDS: dict[str, tuple[str, ...]] = {
    "AnswerCorrectness": ("input", "expected"),
    "AnswerRelevancy": ("input", "context"),
    "AnswerSimilarity": ("expected",),
    "Battle": ("instructions", "expected"),
    "ClosedQA": ("input", "criteria"),
    "ContextEntityRecall": ("expected", "context"),
    "ContextPrecision": ("input", "expected", "context"),
    "ContextRecall": ("input", "expected", "context"),
    "ContextRelevancy": ("input", "context"),
    "EmbeddingSimilarity": ("expected",),
    "ExactMatch": ("expected",),
    "Factuality": ("input", "expected"),
    "Faithfulness": ("input", "context"),
    "JSONDiff": ("expected",),
    "Levenshtein": ("expected",),
    "ListContains": ("expected",),
    "NumericDiff": ("expected",),
    "Possible": ("input",),
    "Sql": ("input", "expected"),
    "Summary": ("input", "expected"),
    "Translation": ("language", "input", "expected"),
}
"""What each scorer cannot do without, beside the output: there a blank went to the judge."""

EMBEDS = ("AnswerCorrectness", "AnswerRelevancy", "AnswerSimilarity", "ContextEntityRecall")
"""Scorers that compare vectors of texts somewhere inside."""

ANSWERLESS = ("ContextEntityRecall", "ContextPrecision", "ContextRecall", "ContextRelevancy")
"""Scorers that judge what was retrieved and never look at the answer."""

_LOCAL = ("ExactMatch", "JSONDiff", "Levenshtein", "ListContains", "NumericDiff", "ValidJSON")
_JUDGED = (*NEEDS.keys() - _LOCAL, "Humor", "LLMClassifier", "Moderation", "Security")
_VARIABLE = re.compile(r"\{\{\{?&?\s*([A-Za-z_]\w*)")


class Binding:
    """Finds the arguments of one call, and says what is missing."""

    def __init__(
        self,
        name: str,
        settings: Mapping[str, Any],
        partial: Mapping[str, Any],
        arguments: Arguments | None,
    ) -> None:
        self._name = name
        self._schema = settings.get("schema")
        self._fixed = dict(partial)
        self._arguments = checked_arguments(arguments)
        self._needs = NEEDS.get(name, ())
        if "prompt_template" in settings:
            named = _VARIABLE.findall(str(settings["prompt_template"]))
            self._needs = tuple(k for k in dict.fromkeys(named) if k not in (*settings, "output"))

    def __call__(self, output: Output, example: Example) -> dict[str, Any]:
        """Give the arguments beside the output.

        Raises:
            Unmeasurable: One that the scorer needs is not there.
        """
        given = self._fixed | further_arguments(self._arguments, output, example)
        asked = None if example.input is None else asked_text(example.input)
        known = {"expected": example.reference, "input": asked, "instructions": asked}
        bound = {key: value for key, value in known.items() if value is not None} | given
        for key in self._needs:
            if bound.get(key) is None and "trace" not in bound:
                bound[key] = _from_attributes(example, key, self._name)
        if self._name == "ValidJSON":
            # What arrives as `expected` is taken for the schema there, which is itself ignored.
            bound["expected"] = self._schema
        if self._name == "ListContains":
            bound["expected"] = as_list(bound["expected"], "reference")
        return bound


def published_name(scorer: object) -> str:
    """Give the name under which autoevals publishes a scorer.

    Raises:
        ScorerError: It is neither a name nor a class.
    """
    if isinstance(scorer, str):
        return scorer.removesuffix("Scorer") if scorer == "LevenshteinScorer" else scorer
    if isinstance(scorer, type):
        return scorer.__name__
    msg = (
        f"{scorer!r} is neither the name nor the class of an autoevals scorer; give the class and "
        "its arguments as settings={...}, so that the judge's endpoint can be set"
    )
    raise ScorerError(msg, code="not_a_scorer", value=scorer)


def find_kind(name: str) -> type[Any]:
    """Find the class of a scorer.

    Raises:
        ScorerError: autoevals has no such scorer.
    """
    import autoevals

    kinds = {key: getattr(autoevals, key) for key in dir(autoevals)}
    kinds = {key: kind for key, kind in kinds.items() if _lineage(kind)[:1] not in ([], ["Scorer"])}
    if name not in kinds:
        msg = f"autoevals has no scorer {name!r}; {nearest(name, kinds)}"
        raise ScorerError(msg, code="unknown_scorer", path="scorer", value=name)
    return cast("type[Any]", kinds[name])


def asks_a_judge(scorer: object, settings: Mapping[str, Any]) -> bool:
    """Whether a scorer, or one that it is given, sends anything anywhere."""
    if isinstance(scorer, str):
        asks = scorer in _JUDGED
    else:
        asks = any(name in ("OpenAIScorer", "EmbeddingSimilarity") for name in _lineage(scorer))
    return asks or any(asks_a_judge(value, {}) for value in settings.values() if _lineage(value))


def check_settings(name: str, settings: Mapping[str, Any]) -> None:
    """Refuse settings that would lead elsewhere, or into a division by zero.

    Raises:
        ScorerError: One is of that kind.
    """
    for key in ("client", "api_key", "base_url", "model"):
        if key in settings:
            msg = f"settings of {name} hold {key!r}; give judge_base_url, model and api_key instead"
            raise ScorerError(msg, code="bad_option", path=f"settings.{key}", value=key)
    least = settings.get("expected_min", 0)
    if not isinstance(least, int | float) or not least < 1:
        msg = f"expected_min is {shorten(least)}; it must be a number below 1, where the scale ends"
        raise ScorerError(msg, code="bad_option", path="settings.expected_min", value=least)
    check_whole("strictness", settings.get("strictness", 1), least=1, or_none=False)
    for choice, value in settings.get("choice_scores", {"any": None}).items():
        if value is not None and not (isinstance(value, int | float) and 0 <= value <= 1):
            path = f"choice_scores[{choice!r}]"
            msg = f"{path} is {shorten(value)}; it must be a number from 0 to 1, or None"
            raise ScorerError(msg, code="bad_option", path=path, value=value)


def _lineage(value: object) -> list[str]:
    """Names of the classes of a scorer or a scorer class of autoevals; empty for other values."""
    kind = value if isinstance(value, type) else type(value)
    names = [base.__name__ for base in kind.__mro__ if base.__module__.startswith("autoevals.")]
    return names if "Scorer" in names else []


def _from_attributes(example: Example, key: str, name: str) -> Any:  # noqa: ANN401 - as it came
    value = example.attributes.get(key)
    if value is None:
        source = {"expected": "a reference", "input": "an input"}.get(
            key, f"{key!r}, in arguments= or among the attributes of the example"
        )
        msg = f"{name} needs {source}"
        raise Unmeasurable(msg)
    return value
