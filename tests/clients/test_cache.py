"""The cache of calls: what it keeps, what it refuses, and many processes at once."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import pickle
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltoolkit.clients import CallCache, call_key
from evaltoolkit.clients import cache as cache_module
from evaltoolkit.errors import ScorerError

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)  # fmt: skip


def never() -> object:
    raise AssertionError("called although the answer is kept")


@settings(max_examples=60, deadline=None)
@given(value=json_values, parts=st.dictionaries(st.text(max_size=5), json_values, max_size=4))
def test_what_is_kept_comes_back(value: Any, parts: dict[str, Any]) -> None:
    cache = CallCache(":memory:")
    assert cache.remember("judge", parts, lambda: value) == (value, False)
    reordered = dict(reversed(parts.items()))
    assert cache.remember("judge", reordered, never) == (value, True)
    assert cache.remember("system", parts, lambda: "another kind").hit is False
    cache.close()


def test_keys_differ_by_version(monkeypatch: pytest.MonkeyPatch) -> None:
    before = call_key("judge", {"a": 1})
    monkeypatch.setattr(cache_module, "CACHE_VERSION", cache_module.CACHE_VERSION + 1)
    assert call_key("judge", {"a": 1}) != before


def test_errors_are_not_kept(tmp_path: Path) -> None:
    cache = CallCache(tmp_path / "deep" / "folder" / "calls.sqlite")

    def broken() -> object:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        cache.remember("system", {"q": 1}, broken)
    assert len(cache) == 0
    assert cache.remember("system", {"q": 1}, lambda: "fine") == ("fine", False)


def test_async_calls_are_kept_too(tmp_path: Path) -> None:
    cache = CallCache(tmp_path / "c")
    calls: list[int] = []

    async def call() -> str:
        calls.append(1)
        return "answer"

    async def twice() -> list[Any]:
        return [await cache.remember_async("system", {"q": 1}, call) for _ in range(2)]

    assert asyncio.run(twice()) == [("answer", False), ("answer", True)]
    assert calls == [1]


def test_the_first_answer_is_kept(tmp_path: Path) -> None:
    cache = CallCache(tmp_path / "c")
    assert cache.put("k", "judge", {"text": "first"}) == {"text": "first"}
    assert cache.put("k", "judge", {"text": "second"}) == {"text": "first"}


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, object(), {"a": b"x"}])
def test_what_is_not_json_is_refused(value: Any) -> None:
    cache = CallCache(":memory:")
    with pytest.raises(ScorerError, match="is not JSON"):
        cache.put("k", "judge", value)
    with pytest.raises(ScorerError, match="is not JSON"):
        call_key("judge", {"part": value})
    circular: list[Any] = []
    circular.append(circular)
    with pytest.raises(ScorerError, match="is not JSON"):
        call_key("judge", {"part": circular})


def test_answers_of_one_kind_can_be_forgotten(tmp_path: Path) -> None:
    cache = CallCache(tmp_path / "c")
    for kind, count in (("judge", 3), ("embedding", 2)):
        for number in range(count):
            cache.put(f"{kind}{number}", kind, number)
    assert cache.clear(kind="judge") == 3
    assert len(cache) == 2
    assert cache.clear() == 2


def test_a_broken_entry_is_a_miss(tmp_path: Path) -> None:
    path = tmp_path / "c"
    cache = CallCache(path)
    cache.put("k", "judge", 1)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE calls SET value = '{\"text\": '")
    connection.close()
    assert cache.get("k") is None
    assert cache.put("k", "judge", 2) == 2


def test_files_of_others_are_refused_and_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("these are no answers " * 200)
    with pytest.raises(ScorerError, match="cannot be used") as caught:
        CallCache(text)
    assert caught.value.code == "broken_cache"
    assert text.read_text().startswith("these are")
    other = tmp_path / "other.sqlite"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE calls (mine TEXT)")
    connection.close()
    before = other.read_bytes()
    with pytest.raises(ScorerError, match="SQLite file of something else") as caught:
        CallCache(other)
    assert caught.value.code == "foreign_cache"
    assert other.read_bytes() == before
    with pytest.raises(ScorerError, match="cannot be used"):
        CallCache(tmp_path)


def test_a_file_cut_short_is_named(tmp_path: Path) -> None:
    path = tmp_path / "c"
    cache = CallCache(path)
    for number in range(200):
        cache.put(str(number), "judge", "x" * 500)
    cache.close()
    path.write_bytes(path.read_bytes()[:5_000])
    with pytest.raises(ScorerError, match="delete this one if it is a damaged cache"):
        CallCache(path)


def test_a_cache_is_opened_again_where_it_is_needed(tmp_path: Path) -> None:
    cache = CallCache(tmp_path / "c")
    cache.put("k", "judge", 1)
    cache.close()
    cache.close()
    assert len(cache) == 1
    copy = pickle.loads(pickle.dumps(cache))
    assert copy.get("k") == (1, True)
    assert repr(copy) == repr(cache)


def test_threads_share_one_cache(tmp_path: Path) -> None:
    cache = CallCache(tmp_path / "c")
    found: dict[int, set[str]] = {number: set() for number in range(20)}

    def work(name: str) -> None:
        for number in range(20):
            value = cache.remember("system", {"n": number}, lambda: name).value
            found[number].add(value)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcdef"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert all(len(names) == 1 for names in found.values())
    assert len(cache) == 20


WORKER = """
import json, sys
from evaltoolkit.clients import CallCache
path, name = sys.argv[1:]
sys.stdin.readline()  # all start together, so that they also make the file together
cache = CallCache(path)
got = [cache.remember("system", {"n": n}, lambda: f"{name} {n} " + "x" * 2000).value.split("x")[0]
       for n in range(150)]
print(json.dumps(got))
"""


def test_processes_share_one_file(tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"
    command = [sys.executable, "-W", "error", "-c", WORKER, str(path)]
    workers = [
        subprocess.Popen(
            [*command, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, cwd=Path(__file__).resolve().parents[2],
        )
        for name in "abcd"
    ]  # fmt: skip
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    done = [worker.communicate(timeout=120) for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * 4, [error for _, error in done]
    answers = [json.loads(text) for text, _ in done]
    assert all(each == answers[0] for each in answers)
    assert [answer.split()[1] for answer in answers[0]] == [str(n) for n in range(150)]
    cache = CallCache(path)
    assert len(cache) == 150
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_a_killed_writer_loses_nothing_that_was_kept(tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"
    code = (
        "import os, signal, sys\nfrom evaltoolkit.clients import CallCache\n"
        "cache = CallCache(sys.argv[1])\n"
        "for n in range(50): cache.put(str(n), 'judge', n)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        check=False, cwd=Path(__file__).resolve().parents[2], timeout=120,
    )  # fmt: skip
    assert done.returncode == -9
    cache = CallCache(path)
    assert [cache.get(str(n)) for n in range(50)] == [(n, True) for n in range(50)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_opens_the_file_for_itself(tmp_path: Path) -> None:
    cache = CallCache(tmp_path / "c")
    cache.put("parent", "judge", 1)
    code = (
        "import os, sys\nfrom evaltoolkit.clients import CallCache\n"
        "cache = CallCache(sys.argv[1])\npid = os.fork()\n"
        "if pid == 0:\n"
        "    cache.put('child', 'judge', cache.get('parent').value + 1)\n"
        "    os._exit(0)\n"
        "assert os.waitpid(pid, 0)[1] == 0\nassert cache.get('child') == (2, True)\n"
    )
    subprocess.run(
        [sys.executable, "-c", code, cache.path],
        check=True, cwd=Path(__file__).resolve().parents[2], timeout=120,
    )  # fmt: skip


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_while_another_thread_reads_or_starts_the_loop(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys\n"
        "from evaltoolkit.clients import CallCache, background\n"
        "cache = CallCache(sys.argv[1])\n"
        "cache._lock.acquire()\nbackground._LOCK.acquire()\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    signal.alarm(30)\n"
        "    cache.put('child', 'judge', 1)\n"
        "    async def one():\n        return 1\n"
        "    os._exit(background.run_blocking(one()) - 1)\n"
        "assert os.waitpid(pid, 0)[1] == 0\n"
        "cache._lock.release()\nbackground._LOCK.release()\n"
        "assert cache.get('child') == (1, True)\n"
    )
    subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "c")],
        check=True, cwd=Path(__file__).resolve().parents[2], timeout=120,
    )  # fmt: skip


def test_a_file_that_is_held_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = CallCache(tmp_path / "c")
    cache.put("k", "judge", 1)
    cache.close()
    monkeypatch.setattr(cache_module, "_BUSY_S", 0.05)
    holder = sqlite3.connect(tmp_path / "c", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    assert cache.get("k") == (1, True)
    with pytest.raises(ScorerError, match=r"database is locked; another process has held it"):
        cache.put("other", "judge", 2)
    holder.close()
    assert cache.put("other", "judge", 2) == 2


def test_a_path_that_cannot_be_opened_asks_for_another(tmp_path: Path) -> None:
    with pytest.raises(ScorerError, match="give the path of a file that can be written"):
        CallCache(tmp_path)


def test_the_start_method_of_processes_does_not_matter_for_keys() -> None:
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        assert pool.apply(call_key, ("judge", {"b": 1, "a": "é"})) == call_key(
            "judge", {"a": "é", "b": 1}
        )
