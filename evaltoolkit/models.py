"""What scorers work on and give back: examples, outputs, scores and criteria.

The models are frozen and refuse unknown fields; a mistake raises a `SchemaError` that lists every
wrong field at once. Frozen is shallow: a dict inside a model is the caller's own and is never
changed by this library.
"""

from __future__ import annotations

import math
import numbers
import reprlib
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails

from evaltoolkit.errors import SchemaError, nearest

Status = Literal["scored", "unscored", "scorer_error", "system_error"]
"""What can have happened to one measurement; the same words as in the score table."""

Kind = Literal["binary", "ordinal", "continuous"]
"""What sort of numbers a criterion gives."""


def as_id(value: object) -> object:
    """Make text of a whole number, so that the ids 7, 7.0 and "7" meet; leave the rest alone.

    Example:
        >>> as_id(7), as_id(7.0), as_id("q1")
        ('7', '7', 'q1')
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value


def describe_error(error: BaseException) -> str:
    """Give an exception as text: its type, then what it says.

    Example:
        >>> describe_error(KeyError("score")), describe_error(TimeoutError())
        ("KeyError: 'score'", 'TimeoutError')
    """
    try:
        text = str(error)
    except Exception:  # a foreign exception may raise even when asked for its text
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _missing_to_none(value: object) -> object:
    """A missing cell of a table arrives as NaN or pandas.NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    return None if isinstance(value, float) and math.isnan(value) else value


def _as_error(value: object) -> object:
    if isinstance(value, BaseException):
        return describe_error(value)
    value = _missing_to_none(value)
    return None if value == "" else value


def _as_texts(value: object) -> object:
    value = _missing_to_none(value)
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else value


def _as_number(value: object) -> object:
    if isinstance(value, str):
        # A sentence to the user: pydantic would quietly read "0.5" as a number.
        msg = "a text is not a number; convert it first, or keep it as label"
        raise ValueError(msg)  # noqa: TRY004 - pydantic collects ValueErrors only
    return value


Id = Annotated[str, BeforeValidator(as_id), Field(min_length=1)]
OptionalId = Annotated[Id | None, BeforeValidator(_missing_to_none)]
OptionalText = Annotated[str | None, BeforeValidator(_missing_to_none)]
Amount = Annotated[
    Annotated[float, Field(ge=0, allow_inf_nan=False)] | None, BeforeValidator(_missing_to_none)
]
Count = Annotated[Annotated[int, Field(ge=0)] | None, BeforeValidator(_missing_to_none)]
Finite = Annotated[Annotated[float, Field(allow_inf_nan=False)] | None, BeforeValidator(_as_number)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Model(BaseModel):
    """Base of all models: frozen, no unknown fields, errors in this library's own form."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    def __init__(self, /, **data: Any) -> None:  # noqa: ANN401 - the signature of BaseModel
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise _as_schema_error(type(self), error) from None


def _as_schema_error(model: type[BaseModel], error: ValidationError) -> SchemaError:
    """Tell every problem of a record at once, with its place and a hint at misspelt fields."""
    problems = error.errors(include_url=False)
    lines = [_problem_text(model, problem) for problem in problems]
    return SchemaError(
        f"{model.__name__} has {len(problems)} wrong field(s): " + " | ".join(lines),
        code=problems[0]["type"],
        path=".".join(str(part) for part in problems[0]["loc"]) or None,
        value=problems[0].get("input"),
    )


def _problem_text(model: type[BaseModel], problem: ErrorDetails) -> str:
    where = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        return f"{where!r} is not a field of it ({nearest(where, model.model_fields)})"
    text = problem["msg"].removeprefix("Value error, ")
    if not where or problem["type"] == "missing":
        return f"{where}: {text}" if where else text
    return f"{where} is {reprlib.repr(problem['input'])}: {text}"


class Example(Model):
    """One test item: what a system is asked and what is known to be right.

    Attributes:
        id: Name of the item, unique within its task; numbers become text (7 and "7" meet).
        task: Benchmark, data set or suite that the item belongs to.
        input: What the system is given: text, messages or any structure.
        reference: The right answer, normally text; a JSON value where answers are structured.
            None means that none is known.
        reference_state: The right final state of the world, usually a nested dict.
        reference_tool_calls: The right tool calls, in order.
        tools: Tools offered to the system, as JSON Schemas.
        expected_tools: Tool calls expected in a single round.
        expected_tool_rounds: Tool calls expected in each round.
        expected_no_tools: Whether calling no tool at all is right.
        expected_tool_count: How many tool calls are expected.
        history: Messages before the input.
        provenance: Where the ground truth comes from: reviewed, captured from a system, ...
        attributes: Further facts such as topic or language; columns of the score table.
        cluster: Name shared by items that are not independent (conversation, repository).

    Example:
        >>> Example(id=7, input="2 + 2?", reference="4").id
        '7'
    """

    id: Id
    task: Annotated[str, BeforeValidator(as_id)] = ""
    input: Any = None
    reference: Any = None
    reference_state: Any = None
    reference_tool_calls: Any = None
    tools: Any = None
    expected_tools: Any = None
    expected_tool_rounds: Any = None
    expected_no_tools: Annotated[bool | None, BeforeValidator(_missing_to_none)] = None
    expected_tool_count: Count = None
    history: Any = None
    provenance: OptionalText = None
    attributes: dict[str, Any] = Field(default_factory=dict)
    cluster: OptionalId = None


class Output(Model):
    """What one system answered to one example, with what it cost.

    Structures are kept as they came, even malformed ones: a scorer that needs them says what is
    wrong with them, and the evaluation goes on.

    Attributes:
        text: The answer, normally text; a JSON value where a system returns structured data.
            None means that there is no answer; "" is an answer without a word.
        final_state: State of the world when the system stopped, usually a nested dict.
        messages: The whole conversation as a list of message dicts.
        rounds: Tool calls of each round, as a list of lists.
        finish_reason: Why the system stopped, as the provider wrote it (``stop``, ``length``).
        refusal: Explicit refusal by the provider: its text, or True.
        parse_errors: What could not be read of the answer, e.g. malformed tool arguments.
        error: What went wrong, as text; an exception becomes its type and text. An empty text
            counts as no error.
        cost_usd: Price in US dollars.
        tokens_in: Tokens of the prompt.
        tokens_out: Tokens of the answer.
        latency_s: Wall-clock seconds.

    Example:
        >>> Output(error=TimeoutError("60 s")).error
        'TimeoutError: 60 s'
    """

    text: Any = None
    final_state: Any = None
    messages: Any = None
    rounds: Any = None
    finish_reason: OptionalText = None
    refusal: Annotated[str | bool | None, BeforeValidator(_missing_to_none)] = None
    parse_errors: Annotated[tuple[str, ...], BeforeValidator(_as_texts)] = ()
    error: Annotated[str | None, BeforeValidator(_as_error)] = None
    cost_usd: Amount = None
    tokens_in: Count = None
    tokens_out: Count = None
    latency_s: Amount = None

    def __eq__(self, other: object) -> bool:
        """Compare two outputs; refuse a text, which would quietly be unequal for ever."""
        if isinstance(other, str):
            msg = "an Output is not its text; compare output.text"
            raise TypeError(msg)
        return super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]  # the fields hold dicts and lists

    def __contains__(self, item: object) -> bool:
        """Refuse ``"word" in output``, which would quietly be false for ever."""
        msg = "an Output is not its text; search in output.text"
        raise TypeError(msg)


class Score(Model):
    """One measurement.

    Attributes:
        criterion: What was judged.
        score: The number; finite exactly when ``status`` is ``scored``, otherwise None.
        label: The verdict in words.
        passed: The scorer's own verdict, if it gives one.
        status: ``scored``, ``unscored`` (declined, nothing to measure), ``scorer_error`` (the
            measurement broke) or ``system_error`` (the system broke).
        message: Reason, explanation or error text.
        details: Evidence as a JSON value.
        cost_usd: Price of the measurement in US dollars, as of a judge.

    Example:
        >>> Score(criterion="exact", score=1).score
        1.0
        >>> Score(criterion="exact", status="unscored", message="no reference").score is None
        True
    """

    criterion: Annotated[str, Field(min_length=1)]
    score: Finite = None
    label: str | None = None
    passed: bool | None = None
    status: Status = "scored"
    message: str | None = None
    details: JsonValue = None
    cost_usd: Amount = None

    @model_validator(mode="after")
    def _score_goes_with_status(self) -> Score:
        if self.status == "scored" and self.score is None:
            msg = (
                f"there is no score for {self.criterion!r}; give a finite number, or "
                "status='unscored' and the reason as message"
            )
            raise ValueError(msg)
        if self.status != "scored" and (self.score is not None or self.passed is not None):
            msg = f"status is {self.status!r}, so score and passed must be left out"
            raise ValueError(msg)
        return self


def _delta(data: dict[str, Any]) -> float | None:
    halves: list[Score | None] = [data.get("baseline"), data.get("candidate")]
    before, after = (half.score if half is not None else None for half in halves)
    return None if before is None or after is None else after - before


class PairedScore(Model):
    """One criterion measured on the outputs of two systems for the same example.

    Attributes:
        baseline: Score of the baseline's output.
        candidate: Score of the candidate's output.
        delta: Candidate minus baseline, worked out when left out; None unless both are scored.
        failure_modes: Short names of what went wrong, e.g. ``refusal_regression``.

    Example:
        >>> old, new = Score(criterion="exact", score=1), Score(criterion="exact", score=0)
        >>> PairedScore(baseline=old, candidate=new).delta
        -1.0
    """

    baseline: Score
    candidate: Score
    delta: float | None = Field(default_factory=_delta)
    failure_modes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _halves_agree(self) -> PairedScore:
        if self.baseline.criterion != self.candidate.criterion:
            msg = (
                f"baseline is a score of {self.baseline.criterion!r}, candidate of "
                f"{self.candidate.criterion!r}; both must be of one criterion"
            )
            raise ValueError(msg)
        known = _delta({"baseline": self.baseline, "candidate": self.candidate})
        if not _same(self.delta, known):
            msg = f"delta is {self.delta}, but candidate minus baseline is {known}; leave it out"
            raise ValueError(msg)
        return self


def _same(given: float | None, known: float | None) -> bool:
    if given is None or known is None:
        return given is known
    return math.isclose(given, known, rel_tol=1e-9, abs_tol=1e-12)


class Criterion(Model):
    """What is known of a criterion before anything is measured.

    Attributes:
        name: Name of the criterion, as in the score table.
        kind: ``binary`` (0 and 1), ``ordinal`` (a rating scale) or ``continuous``; None where
            the scores will tell.
        higher_is_better: Direction; None where it is not known.
        lower_bound: Least possible score; None where there is none.
        upper_bound: Greatest possible score; None where there is none.
        threshold: Score from which the scorer says passed (down to which, if lower is better).
        weight: Share in composites, above 0.
        blocking: False for an advisory criterion.
        self_referenced: True where the baseline is 1 by construction (drift, not correctness).

    Example:
        >>> Criterion(name="latency_s", higher_is_better=False, lower_bound=0).upper_bound is None
        True
    """

    name: Annotated[str, Field(min_length=1)]
    kind: Kind | None = None
    higher_is_better: bool | None = None
    lower_bound: Finite = None
    upper_bound: Finite = None
    threshold: Finite = None
    weight: Positive | None = None
    blocking: bool = True
    self_referenced: bool = False

    @model_validator(mode="after")
    def _bounds_are_ordered(self) -> Criterion:
        lower, upper = self.lower_bound, self.upper_bound
        if lower is not None and upper is not None and lower >= upper:
            msg = f"lower_bound is {lower} and upper_bound {upper}; the lower one must be smaller"
            raise ValueError(msg)
        return self

    def passes(self, score: float) -> bool | None:
        """Say whether a score reaches the threshold; None where there is no threshold."""
        if self.threshold is None:
            return None
        if self.higher_is_better is False:
            return score <= self.threshold
        return score >= self.threshold

    def beyond(self, score: float) -> str | None:
        """Say in words which bound a score breaks; None if it breaks none."""
        lower, upper = self.lower_bound, self.upper_bound
        if lower is not None and score < lower and lower - score > _slack(lower):
            return f"{score:g} lies below the lower bound {lower:g}"
        if upper is not None and score > upper and score - upper > _slack(upper):
            return f"{score:g} lies above the upper bound {upper:g}"
        return None


def _slack(bound: float) -> float:
    return 1e-9 * max(1.0, abs(bound))
