"""When a tool call counts as the one that was wanted: the name, and arguments by a rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, cast

from evaltoolkit.errors import ScorerError, nearest
from evaltoolkit.scorers.base import Unmeasurable, as_json, is_object, is_several, shorten
from evaltoolkit.scorers.calls.messages import ToolCall
from evaltoolkit.scorers.parsing import parse_json
from evaltoolkit.scorers.state.equality import Equality

ArgsMatchMode = Literal["exact", "subset", "superset", "ignore"]
"""``exact``: the same arguments. ``subset``: none beyond the reference's. ``superset``: all of the
reference's. ``ignore``: any."""

ArgsOverride = ArgsMatchMode | Sequence[str] | Callable[[dict[str, Any], dict[str, Any]], object]
"""A mode, dotted keys that must be the same, or a function of the actual and the wanted ones."""

ARGS_MATCH_MODES: tuple[ArgsMatchMode, ...] = ("exact", "subset", "superset", "ignore")

_MAX_SHOWN_JSON = 400
_MAX_FEW, _MAX_BRIEF = 5, 70  # together they stay below
_SCALARS = frozenset((str, int, float, bool, type(None)))
_EQUALITY = Equality()
_CONTINUES = ("at ", "cannot be compared")

Problem = Literal["missing", "extra", "different", "incomparable", "refused"]


class _Absent:
    pass


_ABSENT = _Absent()


class Difference(NamedTuple):
    """One argument that differs.

    Attributes:
        problem: ``refused`` says that a function of the user refused all arguments together.
        argument: Name of the argument, or a dotted key; "" where all are meant.
        actual: Its value in the actual call, if it has it.
        reference: Its value in the reference, if it has it.
        where: Where the two values differ, in words, if they are no plain values.
    """

    problem: Problem
    argument: str = ""
    actual: object = _ABSENT
    reference: object = _ABSENT
    where: str | None = None

    def details(self) -> dict[str, Any]:
        """Give it as JSON."""
        facts: dict[str, Any] = {"argument": showable(self.argument), "problem": self.problem}
        values = {"actual": self.actual, "reference": self.reference}
        facts |= {side: showable(v) for side, v in values.items() if v is not _ABSENT}
        return facts | ({"where": showable(self.where)} if self.where else {})

    def sentence(self) -> str:
        """Say it in words.

        Example:
            >>> Difference("missing", "x", reference=1).sentence()
            "argument 'x' is missing (1)"
        """
        if self.problem == "refused":
            return "the arguments were refused by the function of the user"
        name = f"argument {shorten(self.argument)}"
        if self.where:
            return f"{name}{'' if self.where.startswith(_CONTINUES) else ':'} {self.where}"
        actual, reference = (_shown_value(v) for v in (self.actual, self.reference))
        if self.problem == "missing":
            return f"{name} is missing{f' ({reference})' if reference else ''}"
        if self.problem == "extra":
            return f"{name} was not wanted ({actual})"
        if actual == reference:
            return f"{name} is {actual}, which is not equal to the reference's {reference}"
        return f"{name} is {actual}, not {reference}"


class ArgumentRule:
    """Decides whether an actual call matches a wanted one.

    Arguments are told apart at the top level only, and their values compared whole, by `Equality`:
    1, 1.0 and True are equal, "1" is not, NaN equals nothing; a wanted value may be a `OneOf` or a
    `Near`. Names must be equal. A call that cannot be read matches nothing, whatever the mode.

    Args:
        mode: How arguments are compared.
        overrides: By the name of a tool, how its arguments are compared instead.
        lax_paths: Whether dotted keys that are absent count as null, as in agentevals 0.0.9.

    Raises:
        ScorerError: A mode or an override does not exist.

    Example:
        >>> rule = ArgumentRule("superset")
        >>> rule.matches(ToolCall("f", {"x": 1, "y": 2}), ToolCall("f", {"x": 1}))
        True
    """

    def __init__(
        self,
        mode: ArgsMatchMode = "exact",
        overrides: Mapping[str, ArgsOverride] | None = None,
        *,
        lax_paths: bool = False,
    ) -> None:
        _check_mode(mode, "tool_args_match_mode")
        self.mode = mode
        self._overrides = _checked_overrides(overrides)
        self._lax = lax_paths

    def matches(self, actual: ToolCall, reference: ToolCall) -> bool:
        """Say whether the one call is what the other asked for.

        Raises:
            Unmeasurable: It hangs on two values that cannot be compared.
        """
        if actual.name != reference.name or actual.fault or reference.fault:
            return False
        undecided = None
        for difference in self._differences(actual.args, reference):
            if difference.problem != "incomparable":
                return False
            undecided = difference
        if undecided is not None:
            msg = f"the argument {shorten(undecided.argument)} {undecided.where}"
            raise Unmeasurable(msg)
        return True

    def surely_matches(self, actual: ToolCall, reference: ToolCall) -> bool:
        """Say the same for an explanation: what cannot be compared does not match."""
        if actual.name != reference.name:  # the commonest by far
            return False
        try:
            return self.matches(actual, reference)
        except Unmeasurable:
            return False

    def differences(self, actual: ToolCall, reference: ToolCall) -> list[Difference]:
        """List the arguments on account of which two calls of one tool do not match."""
        return list(self._differences(actual.args, reference))

    def _differences(self, actual: dict[str, Any], reference: ToolCall) -> Iterable[Difference]:
        how = self._overrides.get(reference.name, self.mode)
        if isinstance(how, str):
            return _by_mode(how, actual, reference.args)
        if callable(how):
            return [] if how(actual, reference.args) else [Difference("refused")]
        found = (self._at_path(path, actual, reference.args) for path in how)
        return [difference for difference in found if difference is not None]

    def _at_path(
        self, path: str, actual: dict[str, Any], reference: dict[str, Any]
    ) -> Difference | None:
        one, other = _follow(actual, path), _follow(reference, path)
        if self._lax:
            one, other = (None if value is _ABSENT else value for value in (one, other))
        if one is _ABSENT:
            return Difference("missing", path, reference=other)
        if other is _ABSENT:
            return Difference("extra", path, one)
        return _unlike(path, one, other)


def showable(value: object) -> Any:  # noqa: ANN401 - a JSON value
    """Copy a value for the details of a score: JSON, and shortened where it is long.

    Example:
        >>> showable({"x": (1, 2)}), showable("ab" * 300)[:12], showable({1, 2})
        ({'x': [1, 2]}, "'abababababa", '{1, 2}')
    """
    # Most arguments are few and plain, and need no journey through JSON.
    if is_object(value):
        if len(value) <= _MAX_FEW and all(map(_is_brief, value, value.values())):
            return dict(value)
    elif _is_short(value):
        return value
    try:
        text = as_json(value)
        text.encode()
        if len(text) <= _MAX_SHOWN_JSON:
            return parse_json(text, strict=True)
    except (ValueError, Unmeasurable):  # not JSON, or with half of a character
        pass
    return shorten(value)


def _is_short(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= _MAX_SHOWN_JSON and value.isascii()
    if isinstance(value, int):
        return abs(value) < 2**63
    return value is None or (isinstance(value, float) and math.isfinite(value))


def _is_brief(key: object, value: object) -> bool:
    if not isinstance(key, str) or not key.isascii():
        return False
    length = len(key) + len(value) if isinstance(value, str) else len(key)
    return length <= _MAX_BRIEF and _is_short(value)


def _by_mode(mode: str, actual: dict[str, Any], reference: dict[str, Any]) -> Iterator[Difference]:
    if mode == "ignore":
        return
    for key, value in reference.items():
        if key in actual:
            if (difference := _unlike(key, actual[key], value)) is not None:
                yield difference
        elif mode != "subset":
            yield Difference("missing", key, reference=value)
    if mode != "superset":
        for key, value in actual.items():
            if key not in reference:
                yield Difference("extra", key, value)


def _unlike(argument: str, actual: object, reference: object) -> Difference | None:
    if type(actual) in _SCALARS and type(reference) in _SCALARS:
        same = actual == reference
        return None if same else Difference("different", argument, actual, reference)
    try:
        where = _EQUALITY.difference(actual, reference)
    except Unmeasurable as reason:
        where = f"cannot be compared: {reason}"
        return Difference("incomparable", argument, actual, reference, where)
    if where is None:
        return None
    return Difference("different", argument, actual, reference, where)


def _shown_value(value: object) -> str:
    return "" if value is _ABSENT else shorten(value, limit=40)


def _follow(args: dict[str, Any], path: str) -> object:
    found: object = args
    for key in path.split("."):
        if not isinstance(found, Mapping) or key not in found:
            return _ABSENT
        found = cast("Mapping[str, object]", found)[key]
    return found


def _check_mode(mode: object, path: str) -> None:
    if mode not in ARGS_MATCH_MODES:
        msg = f"{path} is {mode!r}; {nearest(mode, ARGS_MATCH_MODES)}"
        raise ScorerError(msg, code="bad_option", path=path, value=mode)


def _checked_overrides(overrides: object) -> dict[str, ArgsOverride]:
    if overrides is None:
        return {}
    path = "tool_args_match_overrides"
    if not isinstance(overrides, Mapping):
        msg = f"{path} is {shorten(overrides)}; it must be a dict from the names of tools to rules"
        raise ScorerError(msg, code="bad_option", path=path, value=overrides)
    found = dict(cast("Mapping[str, ArgsOverride]", overrides))
    for tool, override in found.items():
        _check_override(override, f"{path}[{tool!r}]")
    return found


def _check_override(override: object, path: str) -> None:
    if isinstance(override, str):
        _check_mode(override, path)
    elif not callable(override):
        keys: Sequence[object] = override if is_several(override) else ()
        if not keys or not all(isinstance(key, str) for key in keys):
            msg = (
                f"{path} is {override!r}; it must be a mode, a list of dotted keys, or a function "
                "of the actual and the reference arguments"
            )
            raise ScorerError(msg, code="bad_option", path=path, value=override)
