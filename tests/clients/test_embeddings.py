"""The client of embeddings: order, batches, the cache, and replies that cannot be used."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from evaltoolkit.clients import CallCache, CallError, EmbeddingClient, Retries
from evaltoolkit.errors import ScorerError
from support.endpoint import Reply, Request, ScriptedEndpoint, json_reply


def vector_of(text: str) -> list[float]:
    return [float(len(text)), float(sum(map(ord, text)))]


def honest(request: Request) -> Reply:
    """Answer in reverse order, as the index allows."""
    items = [
        {"index": place, "embedding": vector_of(text)}
        for place, text in enumerate(request.body["input"])
    ]
    return json_reply({"data": items[::-1], "usage": {"prompt_tokens": 5}})


def test_vectors_come_in_the_order_of_the_texts() -> None:
    with ScriptedEndpoint(honest) as server:
        client = EmbeddingClient(server.url, model="e", batch_size=2, dimensions=2)
        texts = ["one", "three", "one", "", "\ud800", "seven"]
        assert client.embed(texts) == [vector_of(text) for text in texts]
        once = list(server.requests)  # several at a time, so in any order
        assert client(texts) == [vector_of(text) for text in texts]
        assert asyncio.run(client.embed_async(texts)) == client.embed(texts)
        assert client.embed([]) == []
    assert {request.path for request in once} == {"/v1/embeddings"}
    assert sorted((request.body["input"], len(request.body)) for request in once) == [
        (["", "\ud800"], 4),
        (["one", "three"], 4),
        (["seven"], 4),
    ]
    assert once[0].body.keys() == {"model", "input", "encoding_format", "dimensions"}
    assert (once[0].body["model"], once[0].body["dimensions"]) == ("e", 2)


def test_each_text_is_kept_on_its_own(tmp_path: Path) -> None:
    cache = CallCache(tmp_path / "c")
    with ScriptedEndpoint(honest) as server:
        client = EmbeddingClient(server.url, model="e", cache=cache)
        client.embed(["a", "b"])
        assert client.embed(["c", "b", "a"]) == [vector_of(text) for text in "cba"]
        assert asyncio.run(client.embed_async(["b", "d"])) == [vector_of(text) for text in "bd"]
        assert [request.body["input"] for request in server.requests] == [["a", "b"], ["c"], ["d"]]
        assert len(cache) == 4
        EmbeddingClient(server.url, model="other", cache=cache).embed(["a"])
        EmbeddingClient(server.url, model="e", dimensions=2, cache=cache).embed(["a"])
        assert len(server.requests) == 5


@pytest.mark.parametrize(
    "data",
    [
        None, [], {}, {"data": None}, {"data": []}, {"data": [{"embedding": [1]}]},
        {"data": [{"embedding": [1], "index": 0}, {"embedding": [1], "index": 0}]},
        {"data": [{"embedding": [1], "index": 0}, {"embedding": [1], "index": 2}]},
        {"data": [{"embedding": [1]}, {"embedding": []}]},
        {"data": [{"embedding": [1]}, {"embedding": [None]}]},
        {"data": [{"embedding": [1]}, {"embedding": [True]}]},
        {"data": [{"embedding": [1]}, {"embedding": ["1"]}]},
        {"data": [{"embedding": [1]}, {"embedding": "AACAPw=="}]},
        {"data": [{"embedding": [1]}, {"embedding": [float("nan")]}]},
        {"data": [{"embedding": [1]}, {"embedding": [float("inf")]}]},
        {"data": [{"embedding": [1]}, {"embedding": [10**400]}]},
        {"data": [{"embedding": [1]}, "x"]},
        {"data": [{"embedding": [1], "index": "0"}, {"embedding": [1]}]},
        {"data": [{"embedding": [1]}, {"embedding": [1, 2]}]},
    ],
)  # fmt: skip
def test_unusable_replies_are_errors_and_not_kept(data: Any, tmp_path: Path) -> None:
    cache = CallCache(tmp_path / "c")
    with ScriptedEndpoint([Reply(json.dumps(data).encode())]) as server:
        client = EmbeddingClient(server.url, model="e", retries=Retries(attempts=1), cache=cache)
        with pytest.raises(CallError, match="one finite vector|different lengths") as caught:
            client.embed(["a", "b"])
    assert caught.value.code == "bad_reply"
    assert "different lengths" in str(caught.value) or len(cache) == 0


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"model": ""}, "name the model"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"batch_size": "5"}, "batch_size is '5'"),
        ({"dimensions": 0}, "dimensions is 0"),
        ({"dimensions": 2.5}, "dimensions is 2.5"),
        ({"temperature": 0}, "knows no option 'temperature'"),
        ({"base_url": None}, "no endpoint is named"),
        ({"base_url": "http://example.com"}, "clear text"),
    ],
)
def test_options_are_checked_at_construction(options: dict[str, Any], match: str) -> None:
    given = {"base_url": "http://localhost:1", "model": "e", **options}
    with pytest.raises(ScorerError, match=match):
        EmbeddingClient(given.pop("base_url"), **given)


@pytest.mark.parametrize("texts", ["one text", b"bytes", [1], [None], ["a", 2]])
def test_one_text_is_not_taken_for_several(texts: Any) -> None:
    client = EmbeddingClient("http://localhost:1", model="e")
    with pytest.raises(ScorerError, match="give a list of texts"):
        client.embed(texts)


def test_what_came_is_kept_when_another_part_fails(tmp_path: Path) -> None:
    def answer(request: Request) -> Reply:
        if request.body["input"] == ["bad"]:
            return Reply(b"no", status=400)
        return json_reply({"data": [{"embedding": [1.0, 2.0]}]})

    texts = [*"abc", "bad", *"def"]
    with ScriptedEndpoint(answer) as server:
        client = EmbeddingClient(server.url, model="e", batch_size=1, cache=tmp_path / "c")
        with pytest.raises(CallError, match="HTTP 400"):
            client.embed(texts)
        assert len(server.requests) == 7
        assert asyncio.run(client.embed_async([*"abcdef"])) == [[1.0, 2.0]] * 6
        assert len(server.requests) == 7
