"""A chat client against a server that behaves well, badly and worse."""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import json
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evaltoolkit.clients import CallCache, CallError, ChatClient, ChatModel, ChatRequest, Retries
from evaltoolkit.clients import transport as transport_module
from evaltoolkit.errors import MissingDependencyError, ScorerError
from support.endpoint import Reply, Request, ScriptedEndpoint, chat_reply, json_reply

KEY = "sk-hunter2-hunter2"
ASK = ChatRequest([{"role": "user", "content": "Hello?"}])
QUICK = Retries(attempts=3, first_s=0.001)
Serve = Callable[..., ScriptedEndpoint]


@pytest.fixture
def serve() -> Iterator[Serve]:
    opened: list[ScriptedEndpoint] = []

    def start(*script: Any) -> ScriptedEndpoint:
        endpoint = ScriptedEndpoint(script[0] if callable(script[0]) else script).__enter__()
        opened.append(endpoint)
        return endpoint

    yield start
    for endpoint in opened:
        endpoint.__exit__(None, None, None)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Record the waits between tries instead of waiting."""
    waited: list[float] = []

    async def note(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(transport_module, "pause", note)
    return waited


def client_of(endpoint: ScriptedEndpoint, **options: Any) -> ChatClient:
    return ChatClient(endpoint.url, model="m", **{"retries": QUICK, **options})


def failure_of(client: ChatClient) -> CallError:
    with pytest.raises(CallError) as caught:
        client.complete(ASK)
    assert "hunter2" not in f"{caught.value} {caught.value.reply} {caught.value.value}"
    return caught.value


def test_a_reply_keeps_what_it_took(serve: Serve) -> None:
    server = serve(chat_reply("Hi!", tokens=(2000, 500)))
    client = client_of(server, api_key=KEY, usd_per_million_tokens=(3.0, 15.0), seed=7)
    reply = client.complete(ASK)
    assert (reply.text, reply.finish_reason, reply.model) == ("Hi!", "stop", "scripted-1")
    assert (reply.tokens_in, reply.tokens_out) == (2000, 500)
    assert reply.cost_usd == pytest.approx(2000 * 3e-6 + 500 * 15e-6)
    assert (reply.cached, reply.attempts) == (False, 1)
    assert reply.latency_s is not None
    sent = server.requests[0]
    assert sent.path == "/v1/chat/completions"
    assert sent.headers["Authorization"] == f"Bearer {KEY}"
    assert sent.body == {
        "model": "m",
        "messages": [{"role": "user", "content": "Hello?"}],
        "temperature": 0.0,
        "seed": 7,
        "max_tokens": 1024,
    }


def test_what_is_none_is_not_sent(serve: Serve) -> None:
    server = serve(chat_reply("Hi!"))
    client = client_of(
        server, temperature=None, seed=None, max_tokens=5,
        max_tokens_field="max_completion_tokens", extra_body={"reasoning_effort": "low"},
    )  # fmt: skip
    assert client.generate("Hello?") == "Hi!"
    body = server.requests[0].body
    assert sorted(body) == ["max_completion_tokens", "messages", "model", "reasoning_effort"]
    assert "Authorization" not in server.requests[0].headers


def test_a_bare_reply_leaves_counts_and_cost_unknown(serve: Serve) -> None:
    server = serve(json_reply({"choices": [{"message": {"content": ""}}], "usage": None}))
    reply = client_of(server, usd_per_million_tokens=(1, 1)).complete(ASK)
    assert reply.text == ""
    assert (reply.tokens_in, reply.cost_usd, reply.model, reply.finish_reason) == (None,) * 4


def test_too_many_requests_waits_as_long_as_asked(serve: Serve, waits: list[float]) -> None:
    busy = json_reply({"error": "slow down"}, status=429, headers={"Retry-After": "7"})
    server = serve(busy, busy, chat_reply("at last"))
    reply = client_of(server).complete(ASK)
    assert (reply.text, reply.attempts, waits) == ("at last", 3, [7.0, 7.0])


def test_a_wait_longer_than_allowed_is_not_waited(serve: Serve, waits: list[float]) -> None:
    server = serve(json_reply({}, status=429, headers={"Retry-After": "3600"}))
    error = failure_of(client_of(server))
    assert (error.code, error.status, error.attempts, waits) == ("http_status", 429, 1, [])
    assert "asks to wait 3600 s, longer than the 30 s allowed" in str(error)


def test_errors_of_the_server_pass(serve: Serve, waits: list[float]) -> None:
    broken = Reply(b"oops", status=500)
    server = serve(broken, Reply(b"", status=503), chat_reply("ok"))
    client = client_of(server)
    assert client.complete(ASK).attempts == 3
    assert len(waits) == 2
    assert 0.0005 <= waits[0] <= 0.001 <= waits[1] * 2 <= 0.004


def test_tries_are_bounded(serve: Serve, waits: list[float]) -> None:
    server = serve(Reply(b"oops", status=502))
    error = failure_of(client_of(server))
    assert (error.status, error.attempts, len(server.requests), len(waits)) == (502, 3, 3, 2)
    assert "HTTP 502: oops; tried 3 time(s)" in str(error)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 501])
def test_a_refusal_is_not_tried_again_and_the_key_is_not_repeated(
    serve: Serve, waits: list[float], status: int
) -> None:
    server = serve(json_reply({"error": {"message": f"Incorrect key {KEY}"}}, status=status))
    error = failure_of(client_of(server, api_key=KEY))
    assert (error.status, len(server.requests), waits) == (status, 1, [])
    assert "Incorrect key [key]" in str(error)


@pytest.mark.parametrize(
    "message", [{"content": f"Hi {KEY}"}, {"refusal": KEY}, {"content": [KEY]}]
)
def test_a_key_that_a_server_repeats_in_its_answer_goes_nowhere(
    serve: Serve, tmp_path: Path, message: dict[str, Any]
) -> None:
    server = serve(json_reply({"choices": [{"message": message, "finish_reason": "stop"}]}))
    client = client_of(server, api_key=KEY, cache=tmp_path / "c")
    try:
        told = repr(client.complete(ASK))
    except CallError as error:
        told = f"{error} {error.reply}"
    assert "[key]" in told
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert "hunter2" not in f"{told} {kept!r}"


def test_an_error_carries_no_request_and_can_be_pickled(waits: list[float]) -> None:
    error = failure_of(ChatClient("http://localhost:1", model="m", api_key=KEY, retries=QUICK))
    assert (error.__cause__, error.__context__) == (None, None)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), vars(again)) == (str(error), vars(error))


def test_a_redirect_is_not_followed(serve: Serve) -> None:
    other = serve(chat_reply("stolen"))
    server = serve(Reply(b"", status=307, headers={"Location": f"{other.url}/chat/completions"}))
    error = failure_of(client_of(server, api_key=KEY))
    assert (error.code, other.requests) == ("redirected", [])


def test_slow_servers_meet_the_time_limit(serve: Serve, waits: list[float]) -> None:
    silent, dripping = Reply(delay_s=60), Reply(b"[" * 10_000, drip_s=0.05)
    server = serve(silent, dripping, chat_reply("quick"))
    assert client_of(server, timeout_s=0.3).complete(ASK).attempts == 3
    error = failure_of(client_of(serve(silent), timeout_s=0.1))
    assert (error.code, error.attempts) == ("timeout", 3)
    assert "no complete answer within 0.1 s; tried 3 time(s)" in str(error)


def test_a_cut_off_body_is_tried_again(serve: Serve, waits: list[float]) -> None:
    cut = Reply(chat_reply("Hi!").body[:40], cut=500)
    assert client_of(serve(cut, chat_reply("whole"))).complete(ASK).text == "whole"
    error = failure_of(client_of(serve(cut)))
    assert (error.code, error.attempts) == ("connection", 3)


def test_nobody_there(waits: list[float]) -> None:
    with ScriptedEndpoint([Reply()]) as gone:
        url = gone.url
    error = failure_of(ChatClient(url, model="m", retries=QUICK))
    assert (error.code, error.attempts) == ("connection", 3)


@pytest.mark.parametrize(
    "body",
    [
        b"", b"<html>busy</html>", b'{"choices": [', b"\xff\xfe\x00", b"[" * 100_000, b"null",
        b"[]", b'"text"', b'{"choices": []}', b'{"choices": null}', b'{"choices": ["x"]}',
        b'{"choices": [{"message": null}]}', b'{"choices": [{"message": {"content": null}}]}',
        b'{"choices": [{"message": {"content": ["a"]}}]}', b'{"error": {"message": "no"}}',
    ],
)  # fmt: skip
def test_garbage_is_an_error_at_once(serve: Serve, waits: list[float], body: bytes) -> None:
    server = serve(Reply(body))
    error = failure_of(client_of(server))
    assert (error.code, len(server.requests)) == ("bad_reply", 1)
    assert len(str(error)) < 1000


def test_a_refusal_of_the_model_is_named(serve: Serve) -> None:
    message = {"role": "assistant", "content": None, "refusal": "I must not."}
    server = serve(json_reply({"choices": [{"message": message}]}))
    assert "a refusal: 'I must not.'" in str(failure_of(client_of(server)))


def test_a_huge_reply_is_not_read_to_its_end(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, waits: list[float]
) -> None:
    smaller = {**transport_module.Transport.__init__.__kwdefaults__, "largest_reply": 10_000}
    monkeypatch.setattr(transport_module.Transport.__init__, "__kwdefaults__", smaller)
    server = serve(Reply(b" " * 2_000_000))
    error = failure_of(client_of(server))
    assert (error.code, len(server.requests)) == ("too_large", 1)


def test_a_huge_error_message_is_shortened(serve: Serve) -> None:
    error = failure_of(client_of(serve(Reply(b"x" * 1_000_000, status=400))))
    assert len(str(error)) < 500


def test_odd_texts_arrive_as_they_were(serve: Serve) -> None:
    odd = "\ud800 \x00 \u2028 {{input}} \U0001f600 </s>"
    server = serve(chat_reply("ok"))
    client_of(server).complete(ChatRequest([{"role": "user", "content": odd}]))
    assert server.requests[0].body["messages"][0]["content"] == odd


def test_a_proxy_of_the_environment_does_not_see_local_calls(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = serve(chat_reply("seen"))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, proxy.url)
    assert client_of(serve(chat_reply("direct"))).complete(ASK).text == "direct"
    assert proxy.requests == []


def test_the_cache_answers_the_same_question(serve: Serve, tmp_path: Path) -> None:
    server = serve(chat_reply("first"), chat_reply("second"))
    path = tmp_path / "calls.sqlite"
    first = client_of(server, cache=path, usd_per_million_tokens=(1, 1)).complete(ASK)
    again = client_of(server, cache=path, usd_per_million_tokens=(1, 1)).complete(ASK)
    assert (first.cached, again.cached, again.attempts) == (False, True, 0)
    assert (again.text, again.cost_usd, again.latency_s) == (
        "first",
        first.cost_usd,
        first.latency_s,
    )
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"model": "m2"}, {"temperature": 0.5}, {"temperature": None}, {"seed": 1},
        {"seed": None}, {"max_tokens": 9}, {"kind": "system"}, {"extra_body": {"top_p": 0.5}},
        {"max_tokens_field": "max_completion_tokens"},
    ],
)  # fmt: skip
def test_the_cache_is_keyed_by_all_that_matters(
    serve: Serve, tmp_path: Path, other: dict[str, Any]
) -> None:
    server = serve(chat_reply("one"), chat_reply("two"))
    cache = CallCache(tmp_path / "calls.sqlite")
    ChatClient(server.url, model="m", cache=cache).complete(ASK)
    ChatClient(server.url, **{"model": "m", "cache": cache, **other}).complete(ASK)
    assert len(server.requests) == len(cache) == 2


def test_the_cache_is_keyed_by_the_request_and_the_endpoint_but_not_by_the_key(
    serve: Serve, tmp_path: Path
) -> None:
    server = serve(chat_reply("one"))
    cache = CallCache(tmp_path / "calls.sqlite")
    client = client_of(server, cache=cache, api_key=KEY)
    requests = [
        ASK,
        ASK._replace(repeat=1),
        ASK._replace(response_format={"type": "json_object"}),
        ChatRequest([{"role": "system", "content": "Hello?"}]),
        ChatRequest([*ASK.messages, *ASK.messages]),
    ]
    for request in requests:
        client.complete(request)
    assert len(server.requests) == len(requests)
    client_of(server, cache=cache, api_key="sk-another").complete(ASK)
    assert len(server.requests) == len(requests)
    elsewhere = serve(chat_reply("elsewhere"))
    assert client_of(elsewhere, cache=cache).complete(ASK).text == "elsewhere"
    cache.close()
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"hunter2" not in stored
    assert b"Hello?" not in stored


@pytest.mark.parametrize(
    "bad", [Reply(b"oops", status=500), Reply(b"junk"), chat_reply("cut", finish_reason="length")]
)
def test_failures_and_cut_off_answers_are_not_kept(
    serve: Serve, tmp_path: Path, waits: list[float], bad: Reply
) -> None:
    server = serve(bad, chat_reply("good"))
    client = client_of(server, cache=tmp_path / "c", retries=Retries(attempts=1))
    if bad.status == 500 or bad.body == b"junk":
        failure_of(client)
    else:
        assert client.complete(ASK).text == "cut"
    reply = client.complete(ASK)
    assert (reply.text, reply.cached) == ("good", False)
    assert client.complete(ASK).cached


def test_async_calls_wait_together(serve: Serve) -> None:
    together = threading.Barrier(20)

    def answer(request: Request) -> Reply:
        together.wait(20)  # nobody is answered before all twenty have asked
        return chat_reply(request.body["messages"][0]["content"])

    client = client_of(serve(answer), timeout_s=30)

    async def ask_all() -> list[str]:
        asked = [ChatRequest([{"role": "user", "content": str(n)}]) for n in range(20)]
        return [r.text for r in await asyncio.gather(*map(client.complete_async, asked))]

    assert asyncio.run(ask_all()) == [str(n) for n in range(20)]
    # A client is not bound to the loop that it was used in first.
    together.reset()
    assert asyncio.run(ask_all()) == [str(n) for n in range(20)]


def test_equal_temperatures_are_one_question(serve: Serve, tmp_path: Path) -> None:
    server = serve(chat_reply("one"))
    assert not client_of(server, cache=tmp_path / "c", temperature=0).complete(ASK).cached
    assert client_of(server, cache=tmp_path / "c", temperature=0.0).complete(ASK).cached


def test_sync_and_async_share_the_cache(serve: Serve, tmp_path: Path) -> None:
    server = serve(chat_reply("one"))
    client = client_of(server, cache=tmp_path / "c")
    assert not asyncio.run(client.complete_async(ASK)).cached
    assert client.complete(ASK).cached
    assert asyncio.run(client.complete_async(ASK)).cached


def test_a_sync_call_works_inside_a_running_loop(serve: Serve) -> None:
    client = client_of(serve(chat_reply("Hi!")))

    async def like_a_notebook() -> str:
        return client.complete(ASK).text

    assert asyncio.run(like_a_notebook()) == "Hi!"


def test_a_cancelled_call_stops_and_the_client_goes_on(serve: Serve) -> None:
    server = serve(Reply(delay_s=60), chat_reply("next"))
    client = client_of(server)

    async def give_up() -> None:
        asked = asyncio.create_task(client.complete_async(ASK))
        while not server.requests:
            await asyncio.sleep(0.01)
        asked.cancel()
        await asked

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(give_up())
    assert client.complete(ASK).text == "next"


def test_threads_share_a_client(serve: Serve) -> None:
    client = client_of(serve(lambda request: chat_reply(request.body["messages"][0]["content"])))
    found: list[tuple[str, str]] = []

    def ask(name: str) -> None:
        found.append((name, client.generate(name)))

    threads = [threading.Thread(target=ask, args=(str(n),)) for n in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(found) == sorted((str(n), str(n)) for n in range(10))


def test_a_client_that_is_dropped_leaves_nothing_open(serve: Serve) -> None:
    client = client_of(serve(chat_reply("Hi!")))
    client.complete(ASK)
    del client
    gc.collect()  # an unclosed socket would be a warning, and warnings are errors


CALLER = """
import asyncio, sys
from evaltoolkit.clients import ChatClient, ChatRequest
client = ChatClient(sys.argv[1], model="m")
asked = ChatRequest([{"role": "user", "content": "Hello?"}])
assert client.complete(asked).text == "Hi!"
assert asyncio.run(client.complete_async(asked)).text == "Hi!"
"""
FORKED = """
import os
if os.fork() == 0:
    client.complete(asked)
    os._exit(0)
assert os.wait()[1] == 0
"""


def test_the_interpreter_ends_in_order(serve: Serve, repository: Path) -> None:
    url = serve(chat_reply("Hi!")).url
    command = [sys.executable, "-W", "error", "-c", CALLER, url]
    done = subprocess.run(
        command, cwd=repository, capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_calls_for_itself(serve: Serve, repository: Path) -> None:
    server = serve(chat_reply("Hi!"))
    command = [sys.executable, "-c", CALLER + FORKED, server.url]
    subprocess.run(command, cwd=repository, check=True, timeout=120)
    assert len(server.requests) == 3


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"evaltoolkit\[judges\]"):
        ChatClient("http://localhost:1", model="m")


def test_a_client_shows_no_key(serve: Serve) -> None:
    client = client_of(serve(chat_reply("Hi!")), api_key=KEY)
    assert isinstance(client, ChatModel)
    connection = client._connection
    shown = f"{client!r} {client.settings()} {connection!r} {connection._transport!r}"
    assert "hunter2" not in shown
    assert "with a key" in shown
    assert json.dumps(client.settings())


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"model": ""}, "name the model"),
        ({"temperature": -1}, "temperature is -1"),
        ({"temperature": float("nan")}, "temperature is nan"),
        ({"max_tokens": 0}, "max_tokens is 0"),
        ({"max_tokens_field": "limit"}, "under the name 'limit'"),
        ({"timeout_s": 0}, "timeout_s is 0"),
        ({"timeout_s": float("inf")}, "timeout_s is inf"),
        ({"usd_per_million_tokens": (1,)}, "price of tokens in and of tokens out"),
        ({"usd_per_million_tokens": (1, -1)}, "price of tokens in and of tokens out"),
        ({"extra_body": {"temperature": 1}}, "'temperature'"),
        ({"extra_body": {"stream": True}}, "'stream'"),
        ({"api_key_env": "NOT_SET_ANYWHERE"}, "'NOT_SET_ANYWHERE' is empty or not set"),
        ({"temprature": 1}, "knows no option 'temprature'; did you mean 'temperature'"),
        ({"temperature": "0"}, "temperature is '0'; it must be a number"),
        ({"temperature": True}, "temperature is True"),
        ({"seed": 1.5}, "seed is 1.5; it must be a whole number"),
        ({"max_tokens": "5"}, "max_tokens is '5'"),
        ({"timeout_s": "60"}, "timeout_s is '60'; give seconds"),
        ({"timeout_s": None}, "timeout_s is None"),
        (
            {"retries": 0},
            r"retries is 0; give Retries\(attempts=...\), in which 1 is no second try",
        ),
        ({"api_key": 5}, "api_key is a int"),
        ({"cache": 5}, "the cache is a int; give the path of a file"),
        ({"extra_body": 5}, "extra_body is 5; give a dict"),
        ({"extra_body": {"a": {1}}}, "give a dict of JSON values"),
        ({"usd_per_million_tokens": 3}, "usd_per_million_tokens is 3"),
        ({"usd_per_million_tokens": (None, 1)}, "price of tokens in"),
        ({"model": 5}, "model is 5"),
    ],
)
def test_options_are_checked_at_construction(options: dict[str, Any], match: str) -> None:
    with pytest.raises(ScorerError, match=match):
        ChatClient("http://localhost:1", **{"model": "m", **options})
