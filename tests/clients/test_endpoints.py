"""Which addresses and keys are taken, and that no refusal repeats a secret."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from evaltoolkit.clients import check_endpoint
from evaltoolkit.clients.endpoints import Secret, find_key
from evaltoolkit.errors import ScorerError


@pytest.mark.parametrize(
    ("given", "base_url", "host", "is_local"),
    [
        ("https://api.example.com/v1", "https://api.example.com/v1", "api.example.com", False),
        ("https://Example.com:443/v1/", "https://example.com:443/v1", "example.com:443", False),
        ("https://10.0.0.7/openai/v1", "https://10.0.0.7/openai/v1", "10.0.0.7", False),
        ("http://localhost:8080/v1", "http://localhost:8080/v1", "localhost:8080", True),
        ("http://LOCALHOST", "http://localhost", "localhost", True),
        ("http://127.0.0.1:1/v1", "http://127.0.0.1:1/v1", "127.0.0.1:1", True),
        ("http://127.9.8.7/", "http://127.9.8.7", "127.9.8.7", True),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1", "[::1]:8080", True),
        ("https://[2001:db8::1]/v1", "https://[2001:db8::1]/v1", "[2001:db8::1]", False),
        ("https://localhost:8443/v1", "https://localhost:8443/v1", "localhost:8443", True),
    ],
)  # fmt: skip
def test_good_addresses(given: str, base_url: str, host: str, is_local: bool) -> None:
    endpoint = check_endpoint(given)
    assert (endpoint.base_url, endpoint.host, endpoint.is_local) == (base_url, host, is_local)
    assert endpoint.url("chat/completions") == f"{base_url}/chat/completions"


@pytest.mark.parametrize(
    "given",
    [
        "http://api.example.com/v1",
        "http://10.0.0.1/v1",
        "http://128.0.0.1",
        "http://0.0.0.0:8080",
        "http://localhost.example.com/v1",
        "http://127.0.0.1.example.com",
        "http://[::2]/v1",
        "http://[::ffff:127.0.0.1]/v1",
    ],
)
def test_clear_text_to_elsewhere_is_refused_with_a_remedy(given: str) -> None:
    with pytest.raises(ScorerError, match=r"judge_base_url: .*clear text.*use https://") as caught:
        check_endpoint(given, argument="judge_base_url")
    assert caught.value.code == "clear_text"


@pytest.mark.parametrize("given", [None, ""])
def test_a_missing_address_is_refused(given: Any) -> None:
    with pytest.raises(ScorerError, match="no endpoint is named; nothing is sent") as caught:
        check_endpoint(given)
    assert caught.value.code == "missing_endpoint"


@pytest.mark.parametrize(
    "given",
    [
        "localhost:5000", "api.example.com", "ftp://example.com", "https://", "https:///v1",
        "https://exa mple.com", "https://example.com:99999", "https://example.com:0",
        "https://example.com:port",
        "https://-a.example", "https://a..b", "https://ex\u00e4mple.com", "https://[::1",
        "http://127.1/v1", "http://2130706433", "http://0x7f000001", "https://example.com\\@localhost",
        "https://example.com/v1\n", " https://example.com", "https://example.com//\u2028", 7,
        b"https://example.com", "HTTP://localhost",
    ],
)  # fmt: skip
def test_malformed_addresses_are_refused(given: Any) -> None:
    with pytest.raises(ScorerError, match="base_url: ") as caught:
        check_endpoint(given)
    assert caught.value.code == "bad_endpoint"


@pytest.mark.parametrize(
    "given",
    [
        "https://user:hunter2@example.com/v1",
        "https://hunter2@example.com",
        "http://localhost@example.com:hunter2/",
        "https://example.com/v1?key=hunter2",
        "https://example.com/v1#hunter2",
        "https:/user:hunter2@example.com/v1",
        "user:hunter2@example.com/v1",
        "sk-hunter2",
    ],
)
def test_an_address_with_a_secret_is_refused_without_repeating_it(given: str) -> None:
    with pytest.raises(ScorerError) as caught:
        check_endpoint(given)
    assert "hunter2" not in f"{caught.value}{caught.value.value}"


@pytest.mark.parametrize("path", ["chat/completions", "embeddings", "chat/completions/"])
def test_the_address_of_a_call_is_no_base_address(path: str) -> None:
    with pytest.raises(ScorerError, match="leave out"):
        check_endpoint(f"https://example.com/v1/{path}")


def test_a_key_comes_from_an_argument_or_a_named_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", " sk-from-env \n")
    for given in (("sk-direct", None), (None, "MY_KEY")):
        key = find_key(*given)
        assert key is not None
        assert key.reveal() in ("sk-direct", "sk-from-env")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-asked-for")
    assert find_key(None, None) is None


@pytest.mark.parametrize(
    ("given", "match"),
    [
        (("sk-one", "MY_KEY"), "both given"),
        (("", None), "empty or not set"),
        ((None, "NOT_SET"), "'NOT_SET' is empty or not set"),
        (("sk-hunter2\r\nX-Evil: 1", None), "does not hold a key"),
        (("sk hunter2", None), "does not hold a key"),
        (("hünter2", None), "does not hold a key"),
        (("abc", None), "does not hold a key"),
        ((None, "sk-hunter2"), "the variable of api_key_env is empty or not set"),
        ((5, None), "api_key is a int"),
        ((b"hunter2", None), "api_key is a bytes"),
        ((None, 5), "api_key_env is a int"),
    ],
)
def test_bad_keys_are_refused_without_repeating_them(
    given: tuple[Any, Any], match: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NOT_SET", raising=False)
    with pytest.raises(ScorerError, match=match) as caught:
        find_key(*given)
    assert "nter2" not in f"{caught.value}{caught.value.value}"


def test_a_secret_shows_itself_nowhere() -> None:
    key = Secret("sk-hunter2")
    assert "hunter2" not in f"{key} {key!r} {[key]} {vars(type(key))}"
    assert key.redact("Incorrect key sk-hunter2!") == "Incorrect key [key]!"
    for copying in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="not pickled"):
            copying(key)
