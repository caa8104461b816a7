"""Trajectory matches: the cases that agentevals and openevals were seen to decide."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from evaltoolkit.errors import ScorerError
from evaltoolkit.models import Example, Output, Score
from evaltoolkit.scorers import (
    GraphTrajectoryStrictMatch,
    TrajectoryStrictMatch,
    TrajectorySubsetMatch,
    TrajectorySupsetMatch,
    TrajectoryUnorderedMatch,
)
from evaltoolkit.scorers.calls.trajectories import TrajectoryMatch

FOUR: dict[str, type[TrajectoryMatch]] = {
    "strict": TrajectoryStrictMatch,
    "unordered": TrajectoryUnorderedMatch,
    "subset": TrajectorySubsetMatch,
    "superset": TrajectorySupsetMatch,
}
MODES = ("exact", "ignore", "subset", "superset")
every_match = pytest.mark.parametrize("match", FOUR.values(), ids=FOUR.keys())


def says(*calls: tuple[str, dict[str, Any]], text: str = "") -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [{"name": name, "args": args} for name, args in calls]
    return message


USER = {"role": "user", "content": "go"}
TOOL = {"role": "tool", "content": "ok", "tool_call_id": "c"}
DONE = says(text="done")
F, G, H = ("f", {"x": 1}), ("g", {"y": 2}), ("h", {})
REFERENCE = [USER, says(F), TOOL, says(G), TOOL, DONE]
PARALLEL = [USER, says(F, G), TOOL, TOOL, DONE]


def item(reference: Any) -> Example:
    return Example(id=1, reference_tool_calls=reference)


def scored(scorer: Any, actual: Any, reference: Any = REFERENCE) -> Score:
    return scorer.score(Output(messages=actual), item(reference))


def four(actual: Any, reference: Any = REFERENCE, **options: Any) -> str:
    found = [scored(match(**options), actual, reference).score for match in FOUR.values()]
    return "".join("-" if score is None else "FT"[int(score)] for score in found)


def replaced(place: int, message: Any) -> list[Any]:
    return [*REFERENCE[:place], message, *REFERENCE[place + 1 :]]


# Both packages were run on these; columns: strict, unordered, subset, superset.
@pytest.mark.parametrize(
    ("actual", "reference", "outcome"),
    [
        pytest.param(REFERENCE, REFERENCE, "TTTT", id="1 identical"),
        pytest.param(replaced(5, says(text="so")), REFERENCE, "TTTT", id="2 final prose"),
        pytest.param(replaced(0, {**USER, "content": "x"}), REFERENCE, "TTTT", id="3 user text"),
        pytest.param([USER, says(G), TOOL, says(F), TOOL, DONE], REFERENCE, "FTTT", id="4 order"),
        pytest.param([USER, says(G, F), TOOL, TOOL, DONE], PARALLEL, "TTTT", id="5 parallel"),
        pytest.param(
            [*REFERENCE[:5], says(H), TOOL, DONE], REFERENCE, "FFFT", id="6 an extra call"
        ),
        pytest.param([USER, says(F), TOOL, DONE], REFERENCE, "FFTF", id="7 a missing call"),
        pytest.param(replaced(1, says(("f", {"x": 9}))), REFERENCE, "FFFF", id="8 x=9"),
        pytest.param(PARALLEL, REFERENCE, "FTTT", id="9 parallel, not in sequence"),
        pytest.param([], REFERENCE, "FFTF", id="10 nothing"),
        pytest.param([], [], "TTTT", id="11 both nothing"),
        pytest.param(REFERENCE, [], "FFFT", id="12 nothing wanted"),
        pytest.param(
            [USER, says(F), TOOL, says(F), TOOL, DONE],
            [USER, says(F), TOOL, DONE],
            "FFFT",
            id="13 twice",
        ),
        pytest.param(replaced(2, {**TOOL, "content": "x"}), REFERENCE, "TTTT", id="15 result"),
        pytest.param(
            [*REFERENCE[:3], says(text="hm"), *REFERENCE[3:]], REFERENCE, "FTTT", id="16 prose"
        ),
        pytest.param(replaced(5, {**DONE, "tool_calls": []}), REFERENCE, "TTTT", id="17 []"),
        pytest.param(replaced(5, {**DONE, "tool_calls": None}), REFERENCE, "TTTT", id="18 None"),
        pytest.param(replaced(1, says(("f", {"x": 1.0}))), REFERENCE, "TTTT", id="1.0"),
        pytest.param(replaced(1, says(("f", {"x": True}))), REFERENCE, "TTTT", id="True"),
        pytest.param(replaced(1, says(("f", {"x": "1"}))), REFERENCE, "FFFF", id="'1'"),
    ],
)
def test_the_published_cases(actual: Any, reference: Any, outcome: str) -> None:
    before = deepcopy((actual, reference))
    assert four(actual, reference) == outcome
    assert four(actual, reference, compatibility="agentevals-0.0.9") == outcome
    assert four(actual, reference, compatibility="openevals-0.2.2") == outcome
    assert (actual, reference) == before


MORE, LESS = replaced(1, says(("f", {"x": 1, "z": 2}))), replaced(1, says(("f", {})))

# By list mode: an extra argument, then one left out; each under exact, ignore, subset, superset.
CORRECT = {
    "strict": ("FTFT", "FTTF"),
    "superset": ("FTFT", "FTTF"),
    "subset": ("FTFT", "FTTF"),
    "unordered": ("FTFT", "FTTF"),
}
SWAPPED = CORRECT | {"subset": ("FTTF", "FTFT"), "unordered": ("FTFF", "FTFF")}


@pytest.mark.parametrize("list_mode", FOUR)
@pytest.mark.parametrize(
    ("compatibility", "table"),
    [(None, CORRECT), ("openevals-0.2.2", CORRECT), ("agentevals-0.0.9", SWAPPED)],
)
def test_the_direction_of_the_argument_modes(
    list_mode: str, compatibility: Any, table: Any
) -> None:
    for actual, expected in zip((MORE, LESS), table[list_mode], strict=True):
        scorers = [FOUR[list_mode](mode, compatibility=compatibility) for mode in MODES]  # type: ignore[arg-type]
        found = ["FT"[int(scored(scorer, actual).score or 0)] for scorer in scorers]
        assert "".join(found) == expected


P, PQ = ("f", {"p": 1}), ("f", {"p": 1, "q": 2})


def test_calls_are_paired_so_that_as_many_as_possible_match() -> None:
    actual, reference = [says(P, PQ)], [says(PQ, P)]
    assert four(actual, reference, tool_args_match_mode="subset") == "TTTT"
    greedy = TrajectoryUnorderedMatch("subset", compatibility="openevals-0.2.2")
    assert scored(greedy, actual, reference).score == 0
    assert scored(greedy, [says(PQ, P)], [says(PQ, P)]).score == 1


def test_a_failure_that_comes_of_the_published_pairing_says_so() -> None:
    found = scored(
        TrajectorySubsetMatch("superset", compatibility="agentevals-0.0.9"), MORE, REFERENCE
    )
    assert (found.score, found.message) == (
        0,
        "the calls match, but not as agentevals-0.0.9 pairs them",
    )


def test_a_call_in_another_message_is_not_said_to_be_out_of_order() -> None:
    found = scored(TrajectoryStrictMatch(), [USER, DONE, says(F)], [USER, says(F), DONE])
    assert found.message == "'f' at 0 does not stand where the reference has it"


def test_a_missing_reference_passes_nothing() -> None:
    assert four(REFERENCE, None) == "----"
    assert four(REFERENCE, None, compatibility="agentevals-0.0.9") == "----"
    found = TrajectorySupsetMatch().score(Output(messages=REFERENCE), Example(id=1))
    assert (found.status, found.message) == (
        "unscored",
        "the example has no reference_tool_calls",
    )


@pytest.mark.parametrize("arguments", ["{", "[1]", "null"])
@pytest.mark.parametrize("mode", MODES)
def test_malformed_arguments_match_nothing(arguments: str, mode: Any) -> None:
    # There they are an exception, with every mode.
    broken = {"role": "assistant", "tool_calls": [{"function": {"name": "f"}}]}
    broken["tool_calls"][0]["function"]["arguments"] = arguments  # type: ignore[index]
    assert four([broken], [says(("f", {}))], tool_args_match_mode=mode) == "FFFF"
    assert four([broken, says(F)], [says(F)], tool_args_match_mode=mode) == "FFFT"
    assert four([says(F)], [broken], tool_args_match_mode=mode) == "----"


def test_calls_of_a_user_do_not_count() -> None:
    talk = [{**USER, "tool_calls": [{"name": "h", "args": {}}]}, *REFERENCE[1:]]
    assert four(talk) == "TTTT"


def test_roles_of_both_vocabularies_are_the_same() -> None:
    names = {"user": "human", "assistant": "ai"}
    talk = [{**one, "role": names.get(one["role"], one["role"])} for one in REFERENCE]
    assert four(talk) == "TTTT"


def test_bare_calls_are_enough_but_for_the_strict_match() -> None:
    bare = [{"name": name, "args": args} for name, args in (F, G)]
    assert four(REFERENCE, bare) == "-TTT"
    found = scored(TrajectoryStrictMatch(), REFERENCE, bare)
    assert found.message == (
        "reference_tool_calls[0] is a bare tool call; a strict match needs whole conversations"
    )
    rounds = Output(rounds=[[bare[1]], [bare[0]]])
    assert TrajectoryUnorderedMatch().score(rounds, item(REFERENCE)).score == 1
    assert TrajectoryStrictMatch().score(rounds, item(REFERENCE)).status == "unscored"
    found = scored(TrajectoryStrictMatch(), [{"content": "x"}], [USER])
    assert found.message == "messages[0] has no role, which a strict match compares"


@pytest.mark.parametrize(
    ("actual", "message", "facts"),
    [
        (
            REFERENCE[:4],
            "4 message(s) against 6 of the reference",
            {"actual_messages": 4, "reference_messages": 6},
        ),
        (
            [USER, says(F), TOOL, DONE],
            "4 message(s) against 6 of the reference; 'g', call 1 of the reference, was not made",
            {"actual_messages": 4},
        ),
        (replaced(2, USER), "message 2 is of 'user', not 'tool'", {"mismatch_message": 2}),
        (
            replaced(3, says(("g", {"y": 3}))),
            "'g' at 1: argument 'y' is 3, not 2",
            {"mismatch_message": 3},
        ),
        (
            replaced(3, says(text="no")),
            "'g', call 1 of the reference, was not made",
            {"mismatch_message": 3},
        ),
        (
            [USER, says(G), TOOL, says(F), TOOL, DONE],
            "'f' came at 1, out of the order of the reference, where it is at 0; "
            "'g' came at 0, out of the order of the reference, where it is at 1",
            {"mismatch_message": 1},
        ),
    ],
)
def test_a_strict_mismatch_is_located(actual: Any, message: str, facts: Any) -> None:
    found = scored(TrajectoryStrictMatch(), actual)
    assert found.score == 0
    assert found.message == message
    assert dict(found.details) | facts == found.details  # type: ignore[arg-type,call-overload]


def test_the_other_matches_name_what_stands_against_them() -> None:
    actual = [USER, says(H), TOOL, DONE]
    reference = [USER, says(F), TOOL, DONE]
    assert scored(TrajectorySubsetMatch(), actual, reference).message == "'h' at 0 was not wanted"
    assert scored(TrajectorySupsetMatch(), actual, reference).message == (
        "'f', call 0 of the reference, was not made"
    )


def test_tools_can_have_their_own_rule() -> None:
    actual = replaced(1, says(("f", {"x": 9})))
    assert four(actual, tool_args_match_overrides={"f": "ignore"}) == "TTTT"
    assert four(actual, tool_args_match_overrides={"f": ["x"]}) == "FFFF"
    greater = {"f": lambda one, other: one["x"] > other["x"]}
    assert four(actual, tool_args_match_overrides=greater) == "TTTT"
    # agentevals calls the function with exchanged sides in subset, and both ways in unordered.
    swapped = four(actual, tool_args_match_overrides=greater, compatibility="agentevals-0.0.9")
    assert swapped == "TFFT"


def test_dotted_keys_that_are_absent_are_no_match_but_were_published_as_one() -> None:
    options: Any = {"tool_args_match_overrides": {"f": ["z"]}}
    both_absent = (REFERENCE, REFERENCE)
    null = (replaced(1, says(("f", {"z": None}))), REFERENCE)
    for actual, reference in (both_absent, null):
        assert four(actual, reference, **options) == "FFFF"
        assert four(actual, reference, **options, compatibility="openevals-0.2.2") == "FFFF"
        assert four(actual, reference, **options, compatibility="agentevals-0.0.9") == "TTTT"


@every_match
def test_wrong_options_are_refused(match: Any) -> None:
    with pytest.raises(ScorerError, match=r"did you mean 'agentevals-0\.0\.9'"):
        match(compatibility="agentevals-0.1")
    with pytest.raises(ScorerError, match="tool_args_match_mode"):
        match("sub set")


@every_match
@pytest.mark.parametrize("messages", [None, "x", 7, [None], ["x"], {"role": "user"}])
def test_what_is_no_conversation_is_not_scored(match: Any, messages: Any) -> None:
    assert scored(match(), messages).status == "unscored"
    if messages is not None:
        assert scored(match(), REFERENCE, messages).status == "unscored"


def graph(*turns: Any) -> dict[str, Any]:
    return {"inputs": ["go"], "results": [{}], "steps": list(turns)}


def routed(actual: Any, reference: Any) -> Score:
    return GraphTrajectoryStrictMatch().score(
        Output(final_state=actual), Example(id=1, reference=reference)
    )


@pytest.mark.parametrize(
    ("actual", "reference", "score", "message"),
    [
        (graph(["a", "b"]), graph(["a", "b"]), 1, None),
        (graph(), graph(), 1, None),
        ({**graph(["a"]), "inputs": [1]}, {**graph(["a"]), "results": []}, 1, None),
        (graph(["a"], ["b"]), graph(["a"]), 0, "2 turn(s) against 1 of the reference"),
        (graph(["a", "b"]), graph(["b", "a"]), 0, "turn 0, step 0: 'a', not 'b'"),
        (graph(["a"], ["b", "c"]), graph(["a"], ["b"]), 0, "turn 1, step 1: 'c', not the end"),
    ],
)
def test_graph_trajectories(actual: Any, reference: Any, score: int, message: str | None) -> None:
    found = routed(actual, reference)
    assert (found.score, found.message) == (score, message)


def test_a_graph_trajectory_is_found_where_threads_keep_it() -> None:
    thread = {"inputs": [], "outputs": graph(["a"])}
    scorer = GraphTrajectoryStrictMatch()
    for output in (Output(messages=thread), Output(final_state=thread)):
        for example in (
            Example(id=1, reference=graph(["a"])),
            Example(id=1, reference_tool_calls=thread),
        ):
            assert scorer.score(output, example).score == 1


@pytest.mark.parametrize("bad", [None, "x", {}, {"steps": 3}, {"steps": ["a"]}, {"steps": [[1]]}])
def test_what_is_no_graph_trajectory_is_not_scored(bad: Any) -> None:
    assert routed(bad, graph(["a"])).status == "unscored"
    assert routed(graph(["a"]), bad).status == "unscored"
