"""autoevals through the adapter, its judges answered by a script on this machine."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from evaltoolkit.errors import ScorerError
from evaltoolkit.models import Example, Output, Score
from evaltoolkit.scorers import run_scorer
from evaltoolkit.scorers.adapters import autoevals_judges as judges
from evaltoolkit.scorers.adapters.autoevals_scorer import AutoevalsScorer
from support.openai_stub import Request, calls, embeds, running_stub

ITEM = Example(
    id=1,
    input="What is 2 + 2?",
    reference="4",
    attributes={"context": "2 + 2 is 4", "criteria": "right", "language": "German"},
)
ANSWER = Output(text="four")
JUDGES: tuple[type[judges.AutoevalsJudge], ...] = (
    judges.AnswerCorrectness,
    judges.AnswerRelevancy,
    judges.AnswerSimilarity,
    judges.Battle,
    judges.ClosedQA,
    judges.ContextEntityRecall,
    judges.ContextPrecision,
    judges.ContextRecall,
    judges.ContextRelevancy,
    judges.Factuality,
    judges.Faithfulness,
    judges.Humor,
    judges.Moderation,
    judges.Possible,
    judges.Security,
    judges.Sql,
    judges.Summary,
    judges.Translation,
)
CHOICES = {
    judges.Factuality: {"A": 0.4, "B": 0.6, "C": 1, "D": 0, "E": 1},
    judges.ClosedQA: {"Y": 1, "N": 0},
    judges.Humor: {"Yes": 1, "No": 0, "Unsure": 0.5},
    judges.Security: {"Yes": 0, "No": 1, "Unsure": 0.5},
    judges.Battle: {"Yes": 1, "No": 0},
    judges.Possible: {"A": 0, "B": 1},
    judges.Sql: {"Correct": 1, "Incorrect": 0},
    judges.Summary: {"A": 0, "B": 1},
    judges.Translation: {"Y": 1, "N": 0},
}
"""Choices and scores of autoevals 0.4.1."""

peers = pytest.mark.peers
every_judge = pytest.mark.parametrize("judge", JUDGES, ids=lambda judge: judge.__name__)


@pytest.fixture(autouse=True)
def tempting_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys and addresses that the packages would use if they were let."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-service")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/elsewhere")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-private")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-private")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Private: yes")
    monkeypatch.setenv("BRAINTRUST_API_KEY", "bt-private")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")


def score(scorer: AutoevalsScorer, output: Output = ANSWER, item: Example = ITEM) -> Score:
    [found] = run_scorer(scorer, output, item)
    return found


@every_judge
def test_a_judge_without_an_endpoint_is_refused(judge: type[judges.AutoevalsJudge]) -> None:
    with pytest.raises(ScorerError, match="judge_base_url") as caught:
        judge(model="m", embedding_model="e")
    assert caught.value.code == "missing_endpoint"


@every_judge
def test_clear_text_to_another_machine_is_refused(judge: type[judges.AutoevalsJudge]) -> None:
    with pytest.raises(ScorerError, match="clear text"):
        judge(judge_base_url="http://judge.example/v1", model="m", embedding_model="e")


@peers
@pytest.mark.parametrize("judge", [j for j in JUDGES if j is not judges.Moderation])
def test_a_judge_without_a_model_is_refused(judge: type[judges.AutoevalsJudge]) -> None:
    with pytest.raises(ScorerError, match=r"needs (embedding_)?model="):
        judge(judge_base_url="http://127.0.0.1:9/v1")


@peers
@pytest.mark.parametrize("judge", CHOICES, ids=lambda judge: judge.__name__)
def test_choices_score_as_published(judge: type[judges.AutoevalsJudge]) -> None:
    with running_stub(lambda _: calls({"choice": "", "reasons": "because"})) as stub:
        scorer = judge(judge_base_url=stub.base_url, model="judge-1")
        for choice, value in CHOICES[judge].items():
            stub.answer = lambda _, c=choice: calls({"choice": c, "reasons": "because"})  # type: ignore[misc]
            found = score(scorer)
            assert (found.score, found.label, found.message) == (value, choice, "because")
            assert found.passed is (value >= (scorer.criterion.threshold or 0))
        assert len(stub.requests) == len(CHOICES[judge])
        assert found.criterion == judge.__name__
        assert isinstance(found.details, dict)
        host = stub.base_url.removeprefix("http://").removesuffix("/v1")
        assert found.details["judge"] == {"host": host, "model": "judge-1"}


@peers
@pytest.mark.parametrize(
    "reply",
    [
        calls({"choice": "Z"}),
        calls({"reasons": "none"}),
        calls('{"choice": "Y'),
        {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": []},
    ],
    ids=["unknown choice", "no choice", "cut off", "empty"],
)
def test_an_unusable_reply_is_a_scorer_error(reply: dict[str, Any]) -> None:
    with running_stub(lambda _: reply) as stub:
        found = score(judges.ClosedQA(judge_base_url=stub.base_url, model="m"))
    assert (found.status, found.score) == ("scorer_error", None)


@peers
@pytest.mark.parametrize(
    ("judge", "item", "missing"),
    [
        (judges.Factuality, Example(id=1, input="q"), "a reference"),
        (judges.Factuality, Example(id=1, reference="r"), "an input"),
        (judges.ClosedQA, Example(id=1, input="q"), "'criteria'"),
        (judges.Faithfulness, Example(id=1, input="q"), "'context'"),
        (judges.Translation, Example(id=1, input="q", reference="r"), "'language'"),
    ],
)
def test_what_is_missing_is_never_judged_as_a_blank(
    judge: type[judges.AutoevalsJudge], item: Example, missing: str
) -> None:
    with running_stub(lambda _: calls({"choice": "A"})) as stub:
        found = score(judge(judge_base_url=stub.base_url, model="m"), item=item)
        assert stub.requests == []
    assert found.status == "unscored"
    assert missing in (found.message or "")


@peers
def test_arguments_come_from_the_call_then_from_the_example() -> None:
    item = Example(id=1, input="q", attributes={"criteria": "of the example"})
    with running_stub(lambda _: calls({"choice": "Y"})) as stub:
        options: dict[str, Any] = {"judge_base_url": stub.base_url, "model": "m"}
        score(judges.ClosedQA(**options), item=item)
        score(judges.ClosedQA(arguments={"criteria": "of the call"}, **options), item=item)
        worked_out = lambda output, _: {"criteria": f"like {output.text}"}  # noqa: E731
        score(judges.ClosedQA(arguments=worked_out, **options), item=item)
        prompts = [request.prompt for request in stub.requests]
    for prompt, wanted in zip(prompts, ["of the example", "of the call", "like four"], strict=True):
        assert wanted in prompt


@peers
def test_a_classifier_of_ones_own() -> None:
    prompt = "Is {{output}} as polite as {{tone}}?"
    with running_stub(lambda _: calls({"choice": "maybe"})) as stub:
        scorer = judges.LLMClassifier(
            prompt,
            {"yes": 1, "no": 0, "maybe": None},
            judge_base_url=stub.base_url,
            model="m",
            name="polite",
        )
        assert (
            score(scorer).message == "LLMClassifier needs 'tone', in arguments= or among the "
            "attributes of the example"
        )
        item = ITEM.model_copy(update={"attributes": {"tone": "a <b>duke</b>"}})
        skipped = score(scorer, item=item)
        stub.answer = lambda _: calls({"choice": "yes"})
        assert score(scorer, item=item).score == 1
        assert "a <b>duke</b>" in stub.requests[0].prompt
    assert (skipped.status, skipped.criterion) == ("unscored", "polite")


@peers
def test_a_classifier_without_a_name_is_called_like_its_class() -> None:
    with running_stub(lambda _: calls({"choice": "yes"})) as stub:
        scorer = judges.LLMClassifier(
            "Is {{output}} right?", {"yes": 1, "no": 0}, judge_base_url=stub.base_url, model="m"
        )
        found = score(scorer)
    assert (found.score, found.criterion) == (1, "LLMClassifier")


@pytest.mark.parametrize(
    ("endpoint", "part"),
    [({}, "no endpoint is named"), ({"judge_base_url": "http://judge.example/v1"}, "clear text")],
)
def test_every_way_to_a_judge_needs_a_safe_endpoint(endpoint: dict[str, Any], part: str) -> None:
    with pytest.raises(ScorerError, match=part):
        judges.LLMClassifier("{{output}}", {"a": 1, "b": 0}, model="m", **endpoint)
    for name in ("Factuality", "EmbeddingSimilarity", "Moderation", "Faithfulness"):
        with pytest.raises(ScorerError, match=part):
            AutoevalsScorer(name, model="m", embedding_model="e", **endpoint)


@peers
@pytest.mark.parametrize("value", [2, -0.1, math.nan, "1"])
def test_choices_count_from_0_to_1(value: Any) -> None:
    with pytest.raises(ScorerError, match=r"choice_scores\['a'\] is"):
        judges.LLMClassifier(
            "{{output}}", {"a": value}, judge_base_url="http://127.0.0.1:9/v1", model="m"
        )


def ragas(reply: dict[str, Any], *, cosine: float = 1.0) -> Any:
    """Answers every question with the same reply, and texts with vectors at a given cosine."""
    axis = [1.0, 0.0]
    leaning = [cosine, math.sqrt(1 - cosine**2)]

    def answer(request: Request) -> dict[str, Any]:
        if request.path.endswith("/embeddings"):
            return embeds(axis if request.body["input"] in ("four", "q?") else leaning)
        name = request.body["tools"][0]["function"]["name"]
        return calls(reply, name=name)

    return answer


@peers
@pytest.mark.parametrize(
    ("judge", "reply", "cosine", "value"),
    [
        (judges.ContextRecall, "1100", 1.0, 0.5),
        (judges.ContextRecall, "101", 1.0, 0.6666666666666666),
        (judges.ContextRecall, "", 1.0, 0.0),
        (judges.ContextPrecision, {"reason": "", "verdict": 1}, 1.0, 1.0),
        (judges.ContextRelevancy, {"sentences": [{"sentence": "2 + 2", "reasons": []}]}, 1.0, 0.5),
        (judges.ContextRelevancy, {"sentences": []}, 1.0, 0.0),
        (judges.ContextPrecision, {"reason": "", "verdict": 0}, 1.0, 0.0),
        (judges.AnswerSimilarity, {}, math.sqrt(0.75), 0.5534179996617749),
        (judges.AnswerCorrectness, (1, 2, 5), math.sqrt(0.75), 0.30502116658211037),
        (judges.AnswerCorrectness, (1, 0, 2), math.sqrt(0.75), 0.5133544999154437),
        (judges.AnswerCorrectness, (2, 0, 0), math.sqrt(0.75), 0.8883544999154437),
        (judges.AnswerCorrectness, (0, 1, 1), math.sqrt(0.75), 0.1383544999154437),
        (
            judges.AnswerRelevancy,
            {"question": "q?", "noncommittal": 0},
            math.sqrt(0.75),
            0.55341799966,
        ),
        (judges.AnswerRelevancy, {"question": "q?", "noncommittal": 1}, 1.0, 0.0),
        (judges.Faithfulness, "1110", 1.0, 0.75),
    ],
)
def test_rag_scorers_give_the_published_values(
    judge: type[judges.AutoevalsJudge], reply: Any, cosine: float, value: float
) -> None:
    if isinstance(reply, str):
        facts = [
            {"statement": "s", "reason": "r", "attributed": int(c), "verdict": int(c)}
            for c in reply
        ]
        key = "statements" if judge is judges.ContextRecall else "faithfulness"
        reply = {key: facts, "statements": facts}
    if isinstance(reply, tuple):
        reply = {key: ["x"] * n for key, n in zip(("TP", "FP", "FN"), reply, strict=True)}
    with running_stub(ragas(reply, cosine=cosine)) as stub:
        scorer = judge(judge_base_url=stub.base_url, model="m", embedding_model="vectors")
        found = score(scorer)
        models = {request.body["model"] for request in stub.requests}
    assert found.score == pytest.approx(value, abs=1e-6), found
    assert models <= {"m", "vectors"}
    assert found.criterion == judge.__name__
    json.dumps(found.details, allow_nan=False)


@peers
@pytest.mark.parametrize(
    ("judge", "reply"),
    [
        (judges.Faithfulness, {"statements": [], "faithfulness": []}),
        (judges.AnswerCorrectness, {"TP": [], "FP": [], "FN": []}),
    ],
)
def test_a_share_of_nothing_is_unscored(
    judge: type[judges.AutoevalsJudge], reply: dict[str, Any]
) -> None:
    with running_stub(ragas(reply)) as stub:
        scorer = judge(judge_base_url=stub.base_url, model="m", embedding_model="e")
        found = score(scorer)
    assert found.status == "unscored"
    assert "0/0" in (found.message or "")


@peers
@pytest.mark.parametrize(
    ("context", "sentences", "value"),
    [
        ("hello world", ["hel"], 0.2727272727272727),
        ("hello world", ["hel", "wor"], 0.5454545454545454),
        ("hello world", ["hello worl"] * 2, 1.0),
        (["abc", "def"], ["abc"], 0.42857142857142855),
        ("", ["x"], None),
    ],
)
def test_context_relevancy_counts_characters(
    context: Any, sentences: list[str], value: float | None
) -> None:
    reply = {"sentences": [{"sentence": one, "reasons": []} for one in sentences]}
    with running_stub(ragas(reply)) as stub:
        scorer = judges.ContextRelevancy(
            judge_base_url=stub.base_url, model="m", arguments={"context": context}
        )
        found = score(scorer)
    assert found.score == value
    assert found.status == ("unscored" if value is None else "scored")


@peers
def test_weights_of_answer_correctness() -> None:
    reply = {"TP": ["x"], "FP": [], "FN": ["x"] * 2}
    settings = {"factuality_weight": 1, "answer_similarity_weight": 0}
    with running_stub(ragas(reply)) as stub:
        scorer = judges.AnswerCorrectness(
            judge_base_url=stub.base_url, model="m", embedding_model="e", settings=settings
        )
        assert score(scorer).score == 0.5


@peers
def test_faithfulness_says_when_it_counts_fewer_verdicts_than_statements() -> None:
    verdicts = [{"statement": "s", "reason": "r", "verdict": 1}]
    with running_stub(ragas({"statements": ["a", "b"], "faithfulness": verdicts})) as stub:
        found = score(judges.Faithfulness(judge_base_url=stub.base_url, model="m"))
    assert found.score == 1
    assert (
        found.message == "the judge found 2 statement(s) and gave 1 verdict(s), which are counted"
    )


@peers
def test_entities_are_compared_as_vectors_of_the_named_model() -> None:
    found_entities = iter([["Paris", "Rome"], ["Paris", "Oslo"]])
    places = {"Paris": [1.0, 0.0, 0.0], "Rome": [0.0, 1.0, 0.0], "Oslo": [0.0, 0.0, 1.0]}

    def answer(request: Request) -> dict[str, Any]:
        if request.path.endswith("/embeddings"):
            return embeds(places[request.body["input"]])
        return calls({"entities": next(found_entities)}, name="extract_entities")

    with running_stub(answer) as stub:
        options: Any = {"judge_base_url": stub.base_url, "model": "m", "embedding_model": "e"}
        assert score(judges.ContextEntityRecall(**options)).score == 0.5
        assert {r.body["model"] for r in stub.requests if "input" in r.body} == {"e"}


@peers
@pytest.mark.parametrize(
    ("there", "wanted", "value"),
    [
        (["Paris", "France"], ["Paris", "Rome"], 0.5),
        (["Paris", "Rome", "Oslo"], ["Paris", "Rome"], 1.0),
        (["Paris"], [], 0.0),
        ([], [], 1.0),
    ],
)
def test_entities_compared_by_another_scorer(
    there: list[str], wanted: list[str], value: float
) -> None:
    import autoevals

    found = iter([wanted, there])
    with running_stub(lambda _: calls({"entities": next(found)}, name="extract_entities")) as stub:
        scorer = judges.ContextEntityRecall(
            judge_base_url=stub.base_url,
            model="m",
            settings={"pairwise_scorer": autoevals.ExactMatch()},
        )
        assert score(scorer).score == value


@peers
def test_vectors_of_one_endpoint_are_not_taken_for_those_of_another() -> None:
    item = Example(id=1, reference="shared words")
    for cosine, value in [(1.0, 1.0), (0.85, 0.5)]:
        with running_stub(ragas({}, cosine=cosine)) as stub:
            scorer = judges.AnswerSimilarity(judge_base_url=stub.base_url, model="vectors")
            assert score(scorer, item=item).score == pytest.approx(value, abs=1e-6)
            assert len(stub.requests) == 2


@peers
@pytest.mark.parametrize(
    ("flagged", "threshold", "value"),
    [(False, None, 1), (True, None, 0), (True, 0.5, 1), (False, 0.2, 0), (False, 0.3, 1)],
)
def test_moderation(flagged: bool, threshold: float | None, value: float) -> None:
    result = {
        "flagged": flagged,
        "categories": {},
        "category_scores": {"hate": 0.1, "violence": 0.3},
    }
    with running_stub(lambda _: {"id": "x", "model": "m", "results": [result]}) as stub:
        settings = {"threshold": threshold}
        scorer = judges.Moderation(judge_base_url=stub.base_url, settings=settings)
        assert score(scorer).score == value
        assert [request.path for request in stub.requests] == ["/v1/moderations"]


@peers
def test_scorers_that_need_no_judge_ask_none() -> None:
    assert score(AutoevalsScorer("Levenshtein"), Output(text="44")).score == 0.5
    assert score(AutoevalsScorer("LevenshteinScorer", threshold=0.5), Output(text="44")).passed
    found = score(AutoevalsScorer("NumericDiff"), Output(text=math.inf), Example(id=1, reference=1))
    assert (found.status, found.message) == ("unscored", "the scorer returned NaN")
    found = score(AutoevalsScorer("ExactMatch"), Output(text=[1]), Example(id=1, reference=5))
    assert found.status == "scorer_error"
    assert score(AutoevalsScorer("ListContains"), Output(text="word")).status == "unscored"


@peers
@pytest.mark.parametrize(("schema", "value"), [({"type": "array"}, 0), ({"type": "object"}, 1)])
def test_the_schema_is_honoured_and_the_reference_never_takes_its_place(
    schema: dict[str, Any], value: float
) -> None:
    item = Example(id=1, reference={"type": "string"})
    scorer = AutoevalsScorer("ValidJSON", settings={"schema": schema})
    assert score(scorer, Output(text='{"a": 1}'), item).score == value
    assert score(AutoevalsScorer("ValidJSON"), Output(text="[]"), item).score == 1


@peers
def test_a_scorer_inside_another_one_gets_the_endpoint_too() -> None:
    import autoevals

    inner = autoevals.EmbeddingSimilarity(model="e")
    settings = {"pairwise_scorer": inner}
    with pytest.raises(ScorerError, match="judge_base_url"):
        AutoevalsScorer("ListContains", settings=settings)
    with running_stub(ragas({})) as stub:
        scorer = AutoevalsScorer("ListContains", settings=settings, judge_base_url=stub.base_url)
        found = score(scorer, Output(text=["four"]), Example(id=1, reference=["IV"]))
    assert found.score == 1
    assert inner.client is None
    assert len(stub.requests) == 2


@peers
def test_partials_keep_their_arguments() -> None:
    import autoevals

    kind = autoevals.ClosedQA.partial(criteria="of the partial")
    with running_stub(lambda _: calls({"choice": "N"})) as stub:
        scorer = AutoevalsScorer(kind, judge_base_url=stub.base_url, model="m")
        assert score(scorer, item=Example(id=1, input="q")).score == 0
        assert "of the partial" in stub.requests[0].prompt
    assert scorer.name == "ClosedQA"


@peers
@pytest.mark.parametrize(
    ("scorer", "settings", "part"),
    [
        ("Levenstein", {}, "did you mean 'Levenshtein'"),
        ("EmbeddingSimilarity", {"expected_min": 1.0}, "expected_min"),
        ("EmbeddingSimilarity", {"expected_min": "low"}, "expected_min is 'low'"),
        ("AnswerRelevancy", {"strictness": 0}, "strictness"),
        ("AnswerCorrectness", {"factuality_weight": 0, "answer_similarity_weight": 0}, "weight"),
        ("Factuality", {"client": object()}, "judge_base_url"),
        ("Factuality", {"no_such": 1}, "no_such"),
    ],
)
def test_bad_settings_are_refused(scorer: str, settings: dict[str, Any], part: str) -> None:
    options: Any = {"judge_base_url": "http://127.0.0.1:9/v1", "model": "m", "embedding_model": "e"}
    with pytest.raises(ScorerError, match=part):
        AutoevalsScorer(scorer, settings=settings, **options)


@peers
def test_an_instance_is_refused_with_the_remedy() -> None:
    import autoevals

    with pytest.raises(ScorerError, match="settings="):
        AutoevalsScorer(autoevals.Levenshtein())  # type: ignore[arg-type]


@peers
def test_every_scorer_of_the_package_is_known() -> None:
    import autoevals

    from evaltoolkit.scorers.adapters import autoevals_names as names

    base = {
        "OpenAILLMClassifier",
        "OpenAILLMScorer",
        "OpenAIScorer",
        "Scorer",
        "SpecFileClassifier",
    }
    base |= {"LevenshteinScorer", "ScorerWithPartial"}
    there = {
        key
        for key in dir(autoevals)
        if isinstance(kind := getattr(autoevals, key), type) and issubclass(kind, autoevals.Scorer)
    }
    ours = {judge.__name__ for judge in JUDGES} | {"EmbeddingSimilarity", "LLMClassifier"}
    assert there - base == ours | set(names._LOCAL)
    for name in there - base:
        kind = names.find_kind(name)
        assert names.asks_a_judge(kind, {}) is names.asks_a_judge(name, {}) is (name in ours)
