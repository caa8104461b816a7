"""Trajectory matching beside the installed agentevals and openevals, on generated conversations.

The adapter must do what openevals does, whose argument modes are right, and with
``argument_modes="published"`` what agentevals does; the two packages must differ nowhere but in
the list modes whose arguments agentevals swaps.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from importlib import import_module
from random import Random
from typing import Any

import pytest

from evaltoolkit.models import Example, Output
from evaltoolkit.scorers import ExactMatch, Levenshtein, run_scorer
from evaltoolkit.scorers.adapters.agentevals_judges import OpenevalsJSONMatch
from evaltoolkit.scorers.adapters.agentevals_scorer import (
    LIST_MODES,
    AgentevalsScorer,
    AgentevalsTrajectoryMatch,
    quietly,
)
from evaltoolkit.scorers.calls.call_arguments import ARGS_MATCH_MODES
from evaltoolkit.scorers.calls.trajectories import (
    GraphTrajectoryStrictMatch,
    TrajectoryStrictMatch,
    TrajectorySubsetMatch,
    TrajectorySupsetMatch,
    TrajectoryUnorderedMatch,
)
from support.differences import (
    Case,
    Intended,
    Outcome,
    assert_differs_as_intended,
    outcome_here,
    outcome_there,
)
from support.generated import Make, inputs, number, one_of, sometimes, structure, text
from support.trajectories import Messages, pairs

pytestmark = pytest.mark.peers

Call = tuple[str, dict[str, Any]]

COUNT = 2_000
FEW = 200
"""Enough where an adapter calls the very same code a second time."""
every_list_mode = pytest.mark.parametrize("list_mode", LIST_MODES)


def args_mode_of(place: int) -> Any:
    """Every argument mode gets a quarter of the inputs."""
    return ARGS_MATCH_MODES[place % len(ARGS_MATCH_MODES)]


@cache
def conversations() -> list[tuple[Messages, Messages]]:
    return list(pairs(11, COUNT))


@cache
def there(package: str, list_mode: str, args_mode: str) -> Any:
    module = "openevals" if package == "openevals" else "agentevals.trajectory.match"
    create = import_module(module).create_trajectory_match_evaluator
    return create(trajectory_match_mode=list_mode, tool_args_match_mode=args_mode)


@cache
def verdicts_there(package: str, list_mode: str) -> list[Outcome]:
    """What a package says to each conversation; worked out once."""

    def verdict(place: int, actual: Messages, reference: Messages) -> Outcome:
        evaluator = there(package, list_mode, args_mode_of(place))
        both = deepcopy({"outputs": actual, "reference_outputs": reference})
        return outcome_there(lambda: quietly(lambda: evaluator(**both))["score"])

    return [verdict(place, *pair) for place, pair in enumerate(conversations())]


def verdicts_here(scorers: dict[str, Any], count: int = COUNT) -> list[Outcome]:
    found = []
    for place, (actual, reference) in enumerate(conversations()[:count]):
        score = scorers[args_mode_of(place)].score(
            Output(messages=actual), Example(id=1, reference_tool_calls=reference)
        )
        found.append(outcome_here(score))
    return found


@every_list_mode
@pytest.mark.parametrize("package", ["agentevals", "openevals"])
def test_the_adapter_is_right_where_agentevals_swaps(package: Any, list_mode: Any) -> None:
    swaps = package == "agentevals" and list_mode in ("subset", "unordered")
    count = COUNT // 2 if swaps else FEW
    scorers = {
        mode: AgentevalsTrajectoryMatch(list_mode, tool_args_match_mode=mode, package=package)
        for mode in ARGS_MATCH_MODES
    }
    right = verdicts_there("openevals", list_mode)[:count]
    assert verdicts_here(scorers, count) == right
    assert set(right) == {0.0, 1.0}


@every_list_mode
def test_as_published_the_adapter_is_the_package(list_mode: Any) -> None:
    scorers = {
        mode: AgentevalsTrajectoryMatch(
            list_mode, tool_args_match_mode=mode, argument_modes="published"
        )
        for mode in ARGS_MATCH_MODES
    }
    assert verdicts_here(scorers, FEW) == verdicts_there("agentevals", list_mode)[:FEW]


def swapped(list_mode: str) -> list[Intended]:
    """Where agentevals takes the two sides of the arguments for each other."""
    if list_mode not in ("subset", "unordered"):
        return []
    return [
        Intended(
            f"arguments as {mode}",
            f"means {other}, in unordered on the way back",
            lambda m, _, of=mode: m == of,  # type: ignore[misc]
            always=False,
        )
        for mode, other in (("subset", "superset"), ("superset", "subset"))
    ]


@every_list_mode
def test_the_packages_differ_where_arguments_are_swapped_and_nowhere_else(list_mode: Any) -> None:
    both = zip(
        verdicts_there("agentevals", list_mode), verdicts_there("openevals", list_mode), strict=True
    )
    cases = [Case(args_mode_of(i), None, *verdicts) for i, verdicts in enumerate(both)]
    assert_differs_as_intended(cases, swapped(list_mode))


NATIVE = {
    "strict": TrajectoryStrictMatch,
    "unordered": TrajectoryUnorderedMatch,
    "subset": TrajectorySubsetMatch,
    "superset": TrajectorySupsetMatch,
}


@every_list_mode
@pytest.mark.parametrize(
    ("package", "compatibility"),
    [("agentevals", "agentevals-0.0.9"), ("openevals", "openevals-0.2.2")],
)
def test_in_compatibility_our_own_matches_are_those_of_the_packages(
    package: str, compatibility: Any, list_mode: str
) -> None:
    scorers = {
        mode: NATIVE[list_mode](mode, compatibility=compatibility) for mode in ARGS_MATCH_MODES
    }
    assert verdicts_here(scorers) == verdicts_there(package, list_mode)


def best_verdict(list_mode: str, pair: tuple[Messages, Messages], args_mode: str) -> float:
    """What the best pairing gives, found by trying every way to pair."""

    def fits(one: Call, other: Call) -> bool:
        a, r = one[1].items(), other[1].items()
        less, more = all(item in r for item in a), all(item in a for item in r)
        args = {"exact": less and more, "subset": less, "superset": more, "ignore": True}
        return one[0] == other[0] and args[args_mode]

    def covers(rest: list[Call], others: list[Call]) -> bool:
        """Whether every call gets a partner of its own."""
        return not rest or any(
            fits(rest[0], other) and covers(rest[1:], others[:i] + others[i + 1 :])
            for i, other in enumerate(others)
        )

    def same(actual: list[Call], reference: list[Call]) -> bool:
        return len(actual) == len(reference) and covers(actual, reference)

    if list_mode == "strict":
        roles = [[turn["role"] for turn in side] for side in pair]
        turns = zip(*pair, strict=False)
        alike = roles[0] == roles[1]
        return float(alike and all(same(read(one), read(other)) for one, other in turns))
    actual, reference = ([c for turn in side for c in read(turn)] for side in pair)
    if list_mode == "unordered":
        return float(same(actual, reference))
    if list_mode == "subset":
        return float(covers(actual, reference))
    turned = {"subset": "superset", "superset": "subset"}.get(args_mode, args_mode)
    return best_verdict("subset", (pair[1], pair[0]), turned)


def read(message: dict[str, Any]) -> list[Call]:
    """The calls of a message as names and arguments."""
    return [
        (call["name"], call["args"])
        if "name" in call
        else (call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in calls_in(message)
    ]


def repeats_a_tool(pair: tuple[Messages, Messages], args_mode: str) -> bool:
    """Whether it matters who is paired first: several calls of one tool, and a partial mode."""
    names = [[name for turn in side for name, _ in read(turn)] for side in pair]
    several = any(len(set(side)) < len(side) for side in names)
    return several and args_mode in ("subset", "superset")


def calls_in(message: dict[str, Any]) -> list[dict[str, Any]]:
    return message.get("tool_calls") or []


@every_list_mode
def test_our_own_matches_differ_where_the_greedy_pairing_fails(list_mode: str) -> None:
    scorers = {mode: NATIVE[list_mode](mode) for mode in ARGS_MATCH_MODES}
    greedy = Intended(
        "greedy pairing",
        "there the first fit takes the partner that another call needs",
        repeats_a_tool,
        always=False,
        right=lambda pair, mode: best_verdict(list_mode, pair, mode),
    )
    both = zip(verdicts_there("openevals", list_mode), verdicts_here(scorers), strict=True)
    cases = [
        Case(conversations()[place], args_mode_of(place), *verdicts)
        for place, verdicts in enumerate(both)
    ]
    assert_differs_as_intended(cases, [greedy])
    differing = [(case.theirs, case.ours) for case in cases if case.differs]
    assert set(differing) == {(0.0, 1.0)}


def malformed() -> Iterator[tuple[Any, Any]]:
    """Pairs of which one side is missing or has a call whose arguments are no JSON."""
    broken = {"id": "b", "type": "function", "function": {"name": "f", "arguments": '{"x": '}}
    extra = {"role": "assistant", "content": "", "tool_calls": [broken]}
    for place, (actual, reference) in enumerate(conversations()[:400]):
        yield [
            ([*actual, extra], reference),
            (actual, [*reference, extra]),
            (actual, None),
            (None, reference),
        ][place % 4]


@every_list_mode
@pytest.mark.parametrize("package", ["agentevals", "openevals"])
def test_our_own_matches_give_reasons_for_malformed_input(package: str, list_mode: str) -> None:
    ours, evaluator = NATIVE[list_mode](), there(package, list_mode, "exact")

    def is_broken(side: Any) -> bool:
        return bool(side) and '{"x": ' in [
            call.get("function", {}).get("arguments") for turn in side for call in calls_in(turn)
        ]

    def verdict(actual: Any, reference: Any) -> Case:
        item = Example(id=1, reference_tool_calls=reference)
        [score] = run_scorer(ours, Output(messages=actual), item)
        both = deepcopy({"outputs": actual, "reference_outputs": reference})
        theirs = outcome_there(lambda: quietly(lambda: evaluator(**both))["score"])
        return Case(actual, reference, theirs, outcome_here(score))

    assert_differs_as_intended(
        [verdict(*pair) for pair in malformed()],
        [
            Intended(
                "no reference",
                "there it passes as a superset, or fails as if something were known",
                lambda _, e: e is None,
                None,
                "unscored",
            ),
            Intended(
                "no messages",
                "an absent conversation is not one without calls",
                lambda a, _: a is None,
                None,
                "unscored",
            ),
            Intended(
                "malformed reference",
                "with a ground truth that cannot be read there is nothing to compare with",
                lambda _, e: is_broken(e),
                "anything",
                "unscored",
            ),
            Intended(
                "malformed call",
                "a call that cannot be read matches nothing: a verdict, not an exception",
                lambda a, _: is_broken(a),
                "JSONDecodeError",
                None,
                always=False,
            ),
        ],
    )


def beside(name: str, ours: Any, seed: int, make: Make) -> Iterator[Case]:
    """An evaluator of openevals and a scorer of ours on the same generated inputs."""
    module = import_module("openevals.string" if name == "levenshtein_distance" else "openevals")
    evaluator = getattr(module, name)
    for actual, expected in inputs(seed, make, COUNT):
        both = {"outputs": actual, "reference_outputs": expected}
        [score] = run_scorer(ours, Output(text=actual), Example(id=1, reference=expected))
        yield Case(
            actual,
            expected,
            outcome_there(lambda both=both: quietly(lambda: evaluator(**both))["score"]),  # type: ignore[misc]
            outcome_here(score),
        )


ABSENT = Intended(
    "absent",
    "what is absent is a reason, not a ValueError",
    lambda a, e: a is None or e is None,
    "ValueError",
    "unscored",
)


def test_levenshtein_of_openevals() -> None:
    from openevals.string import levenshtein_distance

    def shown(v: Any) -> str:
        return json.dumps(v, ensure_ascii=False) if isinstance(v, dict) else str(v)

    def by_text(a: Any, e: Any) -> Outcome:
        both = {"outputs": shown(a), "reference_outputs": shown(e)}
        return outcome_there(lambda: quietly(lambda: levenshtein_distance(**both))["score"])

    make = sometimes(0.08, one_of(None, True, False, {"ü": [1]}, "True", "true"), text)
    assert_differs_as_intended(
        beside("levenshtein_distance", Levenshtein(), 21, sometimes(0.15, number, make)),
        [
            ABSENT,
            Intended(
                "booleans",
                "a bare True is compared as Python writes it, as in autoevals",
                lambda a, e: isinstance(a, bool) or isinstance(e, bool),
                always=False,
                right=by_text,
            ),
            Intended(
                "escapes",
                "JSON keeps its letters; there ü becomes six characters",
                lambda a, e: isinstance(a, dict) or isinstance(e, dict),
                always=False,
                right=by_text,
            ),
        ],
    )


def test_exact_match_of_openevals() -> None:
    def says_the_same(a: Any, e: Any) -> float:
        other = e if isinstance(a, str) else a
        said = a if isinstance(a, str) else e
        if not isinstance(other, dict | list):
            return float(said == str(other))
        try:
            return float(json.dumps(json.loads(said)) == json.dumps(other))
        except ValueError:
            return 0.0

    as_text = sometimes(0.5, lambda draw: json.dumps(structure(draw, 1)), text)
    make = sometimes(0.4, lambda draw: structure(draw, 2), sometimes(0.3, number, as_text))
    make = sometimes(0.1, one_of(1, "1", 1.0, "1.0", True, "True", {"a": 1}, '{"a": 1}'), make)
    make = sometimes(0.03, one_of(None), make)
    assert_differs_as_intended(
        beside(
            "exact_match",
            ExactMatch(ignore_key_order=True),
            22,
            sometimes(0.03, one_of(None), make),
        ),
        [
            ABSENT,
            Intended(
                "text of a value",
                "a text that says the same as a number or structure is equal, as in autoevals",
                lambda a, e: isinstance(a, str) != isinstance(e, str),
                always=False,
                right=says_the_same,
            ),
        ],
    )


def test_graphs_match_as_in_agentevals() -> None:
    from agentevals.graph_trajectory.strict import graph_trajectory_strict_match

    def turns(draw: Random) -> list[list[str]]:
        return [
            [draw.choice("abc") for _ in range(draw.randrange(4))]
            for _ in range(draw.choice([0, 1, 2]))
        ]

    def graph(draw: Random) -> Any:
        return {"inputs": [draw.random()], "results": [{"x": draw.random()}], "steps": turns(draw)}

    def is_turns(steps: Any) -> bool:
        return isinstance(steps, list) and all(isinstance(turn, list) for turn in steps)

    native, adapter = GraphTrajectoryStrictMatch(), AgentevalsScorer(graph_trajectory_strict_match)
    cases = []
    for place, (actual, expected) in enumerate(
        inputs(23, sometimes(0.05, one_of(None), graph), COUNT)
    ):
        item = Example(id=1, reference=expected)
        [score] = run_scorer(native, Output(final_state=actual), item)
        both = {"outputs": actual, "reference_outputs": expected}
        theirs = outcome_there(
            lambda both=both: quietly(lambda: graph_trajectory_strict_match(**both))["score"]
        )  # type: ignore[misc]
        cases.append(Case(actual, expected, theirs, outcome_here(score)))
        if place < FEW and actual is not None and expected is not None:
            [again] = run_scorer(adapter, Output(text=actual), item)
            assert outcome_here(again) == theirs
    malformed = Intended(
        "malformed steps",
        "what is no list of steps for each turn cannot be compared: a reason, not a number",
        lambda a, e: not (is_turns(a["steps"]) and is_turns(e["steps"])),
        "anything",
        "unscored",
    )
    assert_differs_as_intended(cases, [ABSENT, malformed])
    assert {case.ours for case in cases} == {0.0, 1.0, "unscored"}


JSON_SETTINGS: list[dict[str, Any]] = [
    {"list_match_mode": mode, "aggregator": aggregator, "list_aggregator": lists}
    for mode in ("same_elements", "subset", "superset", "ordered")
    for aggregator, lists in (
        (None, "all"),
        ("average", "average"),
        ("all", "average"),
        ("average", "all"),
    )
]


def test_json_match_is_that_of_openevals() -> None:
    from openevals.json import create_json_match_evaluator

    def record(draw: Random) -> dict[str, Any]:
        return {key: structure(draw, 1) for key in draw.sample("abc", draw.randrange(4))}

    def records(draw: Random) -> Any:
        return (
            record(draw)
            if draw.random() < 0.4
            else [record(draw) for _ in range(draw.randrange(4))]
        )

    pairs = [
        (OpenevalsJSONMatch(settings=s), create_json_match_evaluator(**s)) for s in JSON_SETTINGS
    ]
    seen: set[float | None] = set()
    for place, (actual, expected) in enumerate(inputs(24, records, COUNT)):
        ours, theirs = pairs[place % len(pairs)]
        both = deepcopy({"outputs": actual, "reference_outputs": expected})
        try:
            found = quietly(lambda both=both, theirs=theirs: theirs(**both))  # type: ignore[misc]
        except Exception:
            found = None
        scores = run_scorer(ours, Output(text=actual), Example(id=1, reference=expected))
        if found:
            assert [s.score for s in scores] == [float(one["score"]) for one in found], both
            names = [s.criterion.removeprefix("OpenevalsJSONMatch.") for s in scores]
            assert names == [one["key"] for one in found]
        else:
            [told] = scores
            assert told.status == "unscored", (both, told)
        seen.update(s.score for s in scores)
    assert {0.0, 0.5, 1.0} < seen
