"""YAML as a tree with lines: what is refused, and what two versions of YAML agree on."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from evaltoolkit.evaluation.benchmarks import nodes
from evaltoolkit.evaluation.benchmarks.nodes import DEEPEST, parse_nodes
from evaltoolkit.evaluation.benchmarks.places import Problems, UnreadableError
from evaltoolkit.evaluation.benchmarks.scalars import read_word


def parsed(text: str) -> tuple[Any, list[str]]:
    problems = Problems()
    node = parse_nodes(text, file="b.yaml", problems=problems)
    return node.plain(), [str(problem) for problem in problems.found]


def stopped(text: str) -> str:
    with pytest.raises(UnreadableError) as caught:
        parse_nodes(text, file="b.yaml", problems=Problems())
    return str(caught.value)


@pytest.fixture(params=["C", "Python"], autouse=True)
def both_parsers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything here holds with and without libyaml."""
    if request.param == "Python":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)


@pytest.mark.parametrize(
    ("word", "remedy"),
    [
        ("on", 'on is true in YAML 1.1 but a text in YAML 1.2; quote it: "on" (or write true)'),
        ("Off", '"Off" (or write false)'),
        ("yes", '"yes" (or write true)'),
        ("NO", '"NO" (or write false)'),
        ("010", 'quote it: "010", or drop the zero'),
        ("08", "drop the zero"),
        ("12:30", "12:30 is a whole number in YAML 1.1 but a text in YAML 1.2"),
        ("1_000", "a whole number in YAML 1.1 but a text"),
        ("0o14", "0o14 is a text in YAML 1.1 but a whole number in YAML 1.2"),
        ("1.0e+999", "no finite number"),
        ("0b101", "a whole number in YAML 1.1 but a text"),
        ("1e3", "a text in YAML 1.1 but a number in YAML 1.2"),
        ("2026-12-01", 'a date in YAML 1.1 but a text in YAML 1.2; quote it: "2026-12-01"'),
        ("=", "special (value)"),
        (".nan", "no finite number"),
        ("-.inf", "no finite number"),
        ("9" * 5000, "a number of 5000 digits"),
    ],
)
def test_words_of_two_meanings_are_named_with_line_and_remedy(word: str, remedy: str) -> None:
    value, problems = parsed(f"a: 1\nstate: {word}\n")
    assert value == {"a": 1, "state": word}
    [problem] = problems
    assert problem.startswith("b.yaml:2: ")
    assert remedy in problem


@pytest.mark.parametrize("word", ["on", "010", "2026-12-01", ".nan"])
@pytest.mark.parametrize("quote", ["'", '"'])
def test_quoted_words_are_texts(word: str, quote: str) -> None:
    assert parsed(f"a: {quote}{word}{quote}") == ({"a": word}, [])


def test_a_word_of_two_meanings_as_a_key() -> None:
    value, [problem] = parsed("on: 1")
    assert value == {"on": 1}
    assert "on is true" in problem


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("12", 12),
        ("-3", -3),
        ("0", 0),
        ("0x1F", 31),
        ("1.5", 1.5),
        ("1.5e+3", 1500.0),
        (".5", 0.5),
        ("true", True),
        ("FALSE", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("y", "y"),
        ("kitchen on", "kitchen on"),
        ("1.2.3", "1.2.3"),
    ],
)
def test_plain_words_mean_the_same_in_both_versions(word: str, value: object) -> None:
    found = read_word(word)
    assert (found.value, type(found.value), found.trap) == (value, type(value), None)
    assert yaml.safe_load(word) == value


@given(st.text(alphabet="0123456789_.:-+eExXaoOnNyYfFsStTrRuUlLbB~<>=", max_size=12))
def test_what_is_accepted_is_what_the_published_loader_reads(word: str) -> None:
    """Whatever is not refused has one meaning: PyYAML, which reads YAML 1.1, agrees."""
    found = read_word(word)
    if found.trap is None:
        node = yaml.ScalarNode(
            yaml.resolver.Resolver().resolve(yaml.ScalarNode, word, (1, 0)), word
        )
        assert yaml.SafeLoader("").construct_object(node) == found.value


def test_repeated_keys_are_named_with_both_lines() -> None:
    value, problems = parsed("a: 1\nb: 2\na: 3\n")
    assert value == {"a": 1, "b": 2}
    assert problems == ["b.yaml:3: the key 'a' stands twice; the first is in line 1"]


@pytest.mark.parametrize(
    "text",
    [
        "a: !!python/object/apply:os.system ['true']",
        "a: !!python/name:os.system",
        "a: !!str 5",
        "a: !mine {b: 1}",
        "a: !!set {b: }",
        "a: ! b",
        "!!map {a: 1}",
    ],
)
def test_tags_are_refused(text: str) -> None:
    assert any("the tag" in problem and "refused" in problem for problem in parsed(text)[1])


def test_keys_that_are_no_text() -> None:
    _, problems = parsed("1: a\ntrue: b\n? [c]\n: d\n? null\n: e\n")
    assert [problem.split(": ")[0] for problem in problems] == [f"b.yaml:{n}" for n in (1, 2, 3, 5)]
    assert "the key 1 is a whole number; put it in quotes" in problems[0]
    assert "the key true is true or false; put it in quotes" in problems[1]
    assert "a key is a list; use a text" in problems[2]
    assert "the key null is an empty value; put it in quotes" in problems[3]


def test_anchors_and_merges_are_read() -> None:
    text = "base: &base {x: 1, y: 2}\nmine:\n  <<: *base\n  y: 3\nmany:\n  <<: [*base, {z: 4}]\n"
    value, problems = parsed(text)
    assert problems == []
    assert value["mine"] == {"x": 1, "y": 3}
    assert value["many"] == {"x": 1, "y": 2, "z": 4}
    assert value == yaml.safe_load(text)
    assert "<< merges mappings" in parsed("a: {<<: 3}")[1][0]


def test_copies_of_an_alias_are_not_shared() -> None:
    value, _ = parsed("a: &x [1]\nb: *x\n")
    value["a"].append(2)
    assert value["b"] == [1]


def test_a_billion_laughs_stop_early() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    assert "more than 200,000 values" in stopped("\n".join(lines))


def test_aliases_in_a_circle() -> None:
    assert stopped("a: &a [1, *a]") == "b.yaml:1: *a stands inside its own anchor"


def test_unknown_alias() -> None:
    assert "*b has no anchor" in stopped("a: *b")


@pytest.mark.parametrize("levels", [DEEPEST, 900])
@pytest.mark.parametrize(("opening", "closing"), ["[]", ("{a: ", "}"), ("? ", ""), ("- ", "")])
def test_depth_is_bounded(levels: int, opening: str, closing: str) -> None:
    assert "nested more than 50 levels" in stopped(opening * levels + "x" + closing * levels)


def test_ten_thousand_brackets() -> None:
    assert "nest" in stopped("[" * 10_000)


def test_depth_counts_what_aliases_repeat() -> None:
    """Each anchor is flat, but the last holds all others one inside the other."""
    lines = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 600)]
    assert parsed("\n".join(lines[: DEEPEST - 2]))[1] == []
    assert stopped("\n".join(lines)).startswith("b.yaml:49: nested more than 50 levels")


@pytest.mark.parametrize("character", ["\0", "\x80", "\x1b", "\ufffe"])
def test_characters_that_yaml_has_not(character: str) -> None:
    message = stopped(f"a: 1\nb: 'x{character}'\n")
    assert message.startswith(f"b.yaml:2: this is no YAML: the character U+{ord(character):04X}")


def test_half_a_character() -> None:
    assert "b.yaml:1: this is no YAML" in stopped(r'a: "\ud800"')


def test_number_of_values_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "MOST_NODES", 10)
    assert "more than 10 values" in stopped("[" + "1, " * 12 + "]")


@pytest.mark.parametrize("text", ["a: [1", "a: b: c", "\tx: 1", "%YAML 9\n---\na", "a: \x00", "{"])
def test_no_yaml(text: str) -> None:
    assert "this is no YAML" in stopped(text)


def test_two_documents() -> None:
    assert stopped("a: 1\n---\nb: 2\n").startswith("b.yaml:2: a second document")


@pytest.mark.parametrize("text", ["", "# only a remark\n", "---\n"])
def test_empty_text(text: str) -> None:
    assert parsed(text) == (None, [])


def _is_written_safely(text: str) -> bool:
    """Whether PyYAML quotes a text that is a number in YAML 1.2 only, such as 0E0: it does not."""
    return read_word(text).trap is None or yaml.safe_dump(text)[0] in "'\""


_TEXTS = st.text(max_size=8).filter(_is_written_safely)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner),
    max_leaves=8,
)


@given(_VALUES)
def test_what_pyyaml_writes_is_read_back(value: object) -> None:
    assert parsed(yaml.safe_dump(value)) == (value, [])
