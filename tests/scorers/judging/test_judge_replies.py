"""The verdict is read where it is plain, and refused where it is not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltoolkit.errors import ScorerError
from evaltoolkit.scorers.judging.replies import ChoiceList, UnclearReply, read_reply

WORDS = ChoiceList(["correct", "partly correct", "incorrect"])
MARKS = ChoiceList(["1", "2", "3", "10"])
YES = ChoiceList(["Yes", "No"])
RATED = ChoiceList(["A+", "A", "B"])


@pytest.mark.parametrize(
    ("reply", "choice"),
    [
        ('{"reason": "r", "choice": "A"}', "correct"),
        ('{"reason": "r", "choice": "a"}', "correct"),
        ('{"choice": "Correct"}', "correct"),
        ('{"choice": "INCORRECT."}', "incorrect"),
        ('{"choice": "partly  correct"}', "partly correct"),
        ('{"choice": "B: partly correct"}', "partly correct"),
        ('{"choice": "(B) partly correct"}', "partly correct"),
        ('{"choice": "B - Partly correct"}', "partly correct"),
        ('{"choice": "option C"}', "incorrect"),
        ('{"choice": "Choice C) incorrect"}', "incorrect"),
        ('{"Choice": "C", "Reason": "r"}', "incorrect"),
        ('```json\n{"choice": "C"}\n```', "incorrect"),
        ('```\n{"choice": "C"}\n```\nI hope this helps!', "incorrect"),
        ('Here is my verdict: {"choice": "C"} - thanks.', "incorrect"),
        ('{not json} {"choice": "C"}', "incorrect"),
        ('{"verdict": {"reason": "r", "choice": "C"}}', "incorrect"),
        ('[{"choice": "C"}]', "incorrect"),
        ('{"choice": "C"}\n{"choice": "incorrect"}', "incorrect"),
        ('{"choice": "C", "choice": "C"}', "incorrect"),
        ('{"reason": "two\nlines", "choice": "C"}', "incorrect"),
        ('{"reason": "It says {\\"choice\\": \\"A\\"}", "choice": "C"}', "incorrect"),
        ('{"reason": "Choice: A", "choice": "C"}', "incorrect"),
        ('A: correct\nB: partly correct\n{"choice": "C"}', "incorrect"),
        ('<think>{"choice": "A"} or so?</think>\n{"choice": "C"}', "incorrect"),
        ("<think>hm</think>C", "incorrect"),
        ('{"reason": "r", "choice": "C",}', "incorrect"),
        ('```json\n{"reason": "a, }", "choice": "C",\n}\n```', "incorrect"),
        ('{"all": [{"reason": "r", "choice": "C",},],}', "incorrect"),
        ('{"choice": "\u201cincorrect\u201d"}', "incorrect"),
        ('{"choice": "\uff23"}', "incorrect"),
        ('{"choice": "C (incorrect)"}', "incorrect"),
        ('Answer: Paris\n{"choice": "C"}', "incorrect"),
        ("The answer: it is Paris.\nChoice: C", "incorrect"),
        ("Answer: C\nGrade: incorrect", "incorrect"),
        ("C", "incorrect"),
        (" **incorrect** \n", "incorrect"),
        ("C.", "incorrect"),
        ("Choice: C", "incorrect"),
        ("**Choice:** C", "incorrect"),
        ("## Final verdict: **C**", "incorrect"),
        ("> My answer = C", "incorrect"),
        ("The answer is far off.\n\nGrade: incorrect\n", "incorrect"),
        ("Incorrect\n\nBecause the capital is Paris, this cannot be.", "incorrect"),
        ("Because the capital is Paris.\n\nC) incorrect", "incorrect"),
    ],
)  # fmt: skip
def test_plain_verdicts(reply: str, choice: str) -> None:
    assert read_reply(reply, WORDS).choice == choice


@pytest.mark.parametrize(
    ("reply", "match"),
    [
        ("", "is empty"),
        ("  \n ", "is empty"),
        ("I cannot judge this.", "states no choice"),
        ("This is not correct.", "states no choice"),
        ("The answer is correct", "states no choice"),
        ("A or B", "states no choice"),
        ("Answer: Paris", "chooses 'Paris'"),
        ('Choice: not A\n{"choice": "A"}', "chooses 'not A'"),
        ('{"choice": "C"}\nAnswer: A', "more than one choice"),
        ('{"choice": "A (incorrect)"}', "chooses"),
        ('{"a":' * 900 + "[" + "1," * 40_000, "broken or cut off"),
        ("{}", "states no choice"),
        ('{"score": 1}', "states no choice"),
        ('{"choice": "D"}', "chooses 'D'"),
        ('{"choice": "A or B"}', "chooses 'A or B'"),
        ('{"choice": "not A"}', "chooses 'not A'"),
        ('{"choice": ""}', "chooses ''"),
        ('{"choice": null}', "chooses None"),
        ('{"choice": ["A"]}', "chooses"),
        ('{"choice": {"letter": "A"}}', "chooses"),
        ('{"choice": 1}', "chooses 1"),
        ('{"choice": true}', "chooses True"),
        ('{"choice": "A: incorrect"}', "chooses 'A: incorrect'"),
        ('{"choice": "A", "choice": "B"}', "chooses 'A and B'"),
        ('{"choice": "A"} {"choice": "B"}', "more than one choice: 'correct', 'partly correct'"),
        ('{"choice": "A"}\nChoice: B', "more than one choice"),
        ('{"choice": "A"} {"choice": "?"}', "chooses '\\?'"),
        ('[{"choice": "A"}, {"choice": "C"}]', "more than one choice"),
        ("Choice: A\nFinal choice: C", "more than one choice"),
        ("A\nC", "more than one choice"),
        ("Choice: correct, but with a slip", "chooses"),
        ('{"reason": "cut off here", "choice": "A', "broken or cut off"),
        ('{"reason": "cut off before", "cho', "broken or cut off"),
        ("{'choice': 'A'}", "states no choice"),
        ("<think>I would say A", "finished thinking"),
        ("<think>A</think>", "is empty"),
        ("x" * 100_001, "has 100001 characters"),
        ("{" * 2_000, "more than 1000 braces"),
        ('{"a":' * 900, "broken or cut off"),
        (f'{{"choice": {"9" * 5_000}}}', "states no choice"),
        ('{"choice": Infinity}', "chooses inf"),
        ("Choice: " + "option " * 10_000 + "A", "chooses 'option"),
    ],
)
def test_unclear_verdicts_are_never_guessed(reply: str, match: str) -> None:
    with pytest.raises(UnclearReply, match=match):
        read_reply(reply, WORDS)


@pytest.mark.parametrize(
    ("choices", "reply", "choice"),
    [
        (MARKS, '{"choice": 3}', "3"),
        (MARKS, '{"choice": 10.0}', "10"),
        (MARKS, '{"choice": "1"}', "1"),
        (MARKS, "2", "2"),
        (YES, '{"choice": "yes"}', "Yes"),
        (YES, '{"choice": "B"}', "No"),
        (YES, "No.", "No"),
        (RATED, '{"choice": "A+"}', "A+"),
        (RATED, '{"choice": "a"}', "A"),
    ],
)
def test_other_lists(choices: ChoiceList, reply: str, choice: str) -> None:
    assert read_reply(reply, choices).choice == choice


@pytest.mark.parametrize(
    ("choices", "reply"),
    [(MARKS, "12"), (MARKS, '{"choice": 1.5}'), (MARKS, '{"choice": true}'), (MARKS, "10/10"),
     (YES, "no doubt"), (RATED, "A-")],
)  # fmt: skip
def test_near_misses_of_other_lists(choices: ChoiceList, reply: str) -> None:
    with pytest.raises(UnclearReply):
        read_reply(reply, choices)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ('{"reason": " because ", "choice": "A"}', "because"),
        ('{"Explanation": "because", "choice": "A"}', "because"),
        ('It fits. {"choice": "A"}', "It fits."),
        ('{"choice": "A"}', None),
        ("A", None),
        ("It fits.\nChoice: A", "It fits.\nChoice: A"),
    ],
)
def test_the_reason_is_kept(reply: str, reason: str | None) -> None:
    assert read_reply(reply, WORDS).reason == reason


@pytest.mark.parametrize(
    ("names", "match"),
    [
        ([], "has 0 entries"),
        (["one"], "has 1 entries"),
        ([str(n) for n in range(27)], "has 27 entries"),
        (["Yes", "yes"], "cannot be told apart"),
        (["good", "good."], "cannot be told apart"),
        (["good", ""], "one line of text"),
        (["good", "..."], "one line of text"),
        (["good", "not\ngood"], "one line of text"),
    ],
)
def test_lists_that_cannot_be_read_back_are_refused(names: list[str], match: str) -> None:
    with pytest.raises(ScorerError, match=match):
        ChoiceList(names)


names = st.lists(
    st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=6),
    min_size=2, max_size=5, unique_by=str.casefold,
)  # fmt: skip
reasons = st.text(max_size=60)


@settings(deadline=None)
@given(names=names, data=st.data(), reason=reasons)
def test_what_is_asked_for_is_always_understood(
    names: list[str], data: st.DataObject, reason: str
) -> None:
    choices = ChoiceList(names)
    place = data.draw(st.integers(0, len(names) - 1))
    for said in (choices.labels[place], names[place]):
        reply = json.dumps({"reason": reason, "choice": said})
        for form in (reply, f"```json\n{reply}\n```", f"Sure!\n\n{reply}\n\nDone."):
            assert read_reply(form, choices).choice == names[place]


@settings(deadline=None)
@given(reply=st.text(alphabet='ABC{}":,[]\n choice<think>/`=.1', max_size=80))
def test_any_text_is_read_or_refused(reply: str) -> None:
    try:
        outcome = read_reply(reply, WORDS).choice
    except UnclearReply as problem:
        outcome = str(problem)
    assert outcome in WORDS.names or "reply" in outcome


@pytest.mark.parametrize(
    "text",
    [
        '{"reason": "it quotes {"choice": "A"} and then',
        '{"reason": "it quotes {"choice": "A"} fully", "choice": "B"}',
        'Sure: {"verdicts": [{"choice": "A"}, ',
        '{"choice": "A", "reason": ',
    ],
)
def test_a_verdict_inside_broken_json_is_none(text: str) -> None:
    with pytest.raises(UnclearReply, match="broken or cut off"):
        read_reply(text, ChoiceList(["correct", "incorrect"]))
