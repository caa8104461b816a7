"""A judge of another package is asked at the one named endpoint, and nothing else leaves."""

from __future__ import annotations

from typing import Any

import pytest

from evaltoolkit.errors import ScorerError
from evaltoolkit.models import Example, Output, Score
from evaltoolkit.scorers import run_scorer
from evaltoolkit.scorers.adapters import autoevals_judges as judges
from evaltoolkit.scorers.adapters.agentevals_judges import TrajectoryLLMAsJudge
from support.openai_stub import calls, running_stub

pytestmark = pytest.mark.peers


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


def score(scorer: judges.ClosedQA) -> Score:
    item = Example(id=1, input="What is 2 + 2?", attributes={"criteria": "right"})
    [found] = run_scorer(scorer, Output(text="four"), item)
    return found


def test_only_what_was_given_is_sent() -> None:
    with running_stub(lambda _: calls({"choice": "Y"})) as stub:
        scorer = judges.ClosedQA(judge_base_url=stub.base_url, model="m", api_key="key-given")
        assert score(scorer).score == 1
        [request] = stub.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer key-given"
    assert "private" not in str(request)
    assert "sk-of-another-service" not in str(request)
    assert not [name for name in request.headers if name.startswith(("x-", "openai"))]


def test_without_a_key_none_is_sent_and_a_key_is_never_shown() -> None:
    with running_stub(lambda _: (401, {"error": {"message": "bad key key-given"}})) as stub:
        keyless = judges.ClosedQA(judge_base_url=stub.base_url, model="m")
        assert score(keyless).status == "scorer_error"
        assert "authorization" not in stub.requests[0].headers
        scorer = judges.ClosedQA(judge_base_url=stub.base_url, model="m", api_key="key-given")
        found = score(scorer)
    assert found.status == "scorer_error"
    assert "key-given" not in f"{found!r} {scorer!r} {vars(scorer)!r}"


def test_a_redirect_is_not_followed() -> None:
    with running_stub(lambda _: calls({"choice": "Y"})) as elsewhere:
        away = {"headers": {"Location": f"{elsewhere.base_url}/chat/completions"}}
        with running_stub(lambda _: (307, away)) as stub:
            scorer = judges.ClosedQA(judge_base_url=stub.base_url, model="m", max_retries=0)
            assert score(scorer).status == "scorer_error"
        assert elsewhere.requests == []


def test_a_crowded_judge_is_asked_a_few_times_and_not_for_hours() -> None:
    busy = {"error": {"message": "slow down"}, "headers": {"retry-after-ms": "1"}}
    with running_stub(lambda _: (429, busy)) as stub:
        scorer = judges.ClosedQA(judge_base_url=stub.base_url, model="m", max_retries=2)
        found = score(scorer)
    assert found.status == "scorer_error"
    assert "RateLimitError" in (found.message or "")
    assert len(stub.requests) == 3


def test_global_settings_of_the_package_are_neither_used_nor_changed() -> None:
    import autoevals
    from autoevals.oai import _client_var

    with running_stub(lambda _: calls({"choice": "Y"})) as elsewhere:
        from openai import OpenAI

        autoevals.init(OpenAI(base_url=elsewhere.base_url, api_key="k"), default_model="theirs")
        before = _client_var.get()
        try:
            with running_stub(lambda _: calls({"choice": "Y"})) as stub:
                score(judges.ClosedQA(judge_base_url=stub.base_url, model="mine"))
                assert [request.body["model"] for request in stub.requests] == ["mine"]
            assert elsewhere.requests == []
            assert _client_var.get() is before
            assert autoevals.get_default_model() == "theirs"
        finally:
            before.openai.close()
            autoevals.init()


def test_a_tracing_wrapper_never_gets_hold_of_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    from autoevals import oai

    wrapped: list[object] = []
    monkeypatch.setattr(oai, "_named_wrapper", type("Wrapper", (), {}))
    monkeypatch.setattr(oai, "_wrap_openai", lambda client: (wrapped.append(client), client)[1])
    with running_stub(lambda _: calls({"choice": "Y"})) as stub:
        assert score(judges.ClosedQA(judge_base_url=stub.base_url, model="m")).score == 1
    assert wrapped == []


def test_judges_at_two_endpoints_do_not_mix_in_threads() -> None:
    from concurrent.futures import ThreadPoolExecutor

    with (
        running_stub(lambda _: calls({"choice": "Y"})) as one,
        running_stub(lambda _: calls({"choice": "N"})) as other,
    ):
        scorers = [
            judges.ClosedQA(judge_base_url=stub.base_url, model=model)
            for stub, model in ((one, "yes"), (other, "no"))
        ]
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda i: score(scorers[i % 2]).score, range(40)))
        models = [{request.body["model"] for request in stub.requests} for stub in (one, other)]
    assert found == [1, 0] * 20
    assert models == [{"yes"}, {"no"}]


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"base_url": "http://127.0.0.1:9/v1"}, "did you mean 'judge_base_url'"),
        ({"settigns": {}}, "did you mean 'settings'"),
        ({"model": 3}, "model is 3; it must be the name of a model"),
        ({"timeout": "soon"}, "timeout is 'soon'; it must be a number of seconds above 0"),
        ({"timeout": 0}, "timeout is 0"),
        ({"timeout": None}, "timeout is None"),
        ({"max_retries": -1}, "max_retries is -1; it must be a whole number from 0"),
        ({"arguments": "criteria"}, "arguments is 'criteria'; it must be a dict"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], part: str) -> None:
    right: dict[str, Any] = {"judge_base_url": "http://127.0.0.1:9/v1", "model": "m"}
    for judge in (judges.ClosedQA, TrajectoryLLMAsJudge):
        with pytest.raises(ScorerError, match=part):
            judge(**(right | options))
