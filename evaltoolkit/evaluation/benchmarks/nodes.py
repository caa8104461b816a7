"""YAML text as a tree that knows its lines: no tags, no repeated keys, bounded aliases.

The tree is built from the events of the parser of PyYAML, never by its constructors: nothing in
the text can name a Python object.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

from evaltoolkit.evaluation.benchmarks.places import Place, Problem, Problems, UnreadableError
from evaltoolkit.evaluation.benchmarks.scalars import Scalar, read_word

DEEPEST = 50
"""How many levels of nesting a file may have."""

MOST_NODES = 200_000
"""How many values a file may hold, those that aliases repeat counted each time."""


_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Node:
    """A value with its place.

    Attributes:
        value: A scalar, a list of nodes, or a dict of nodes.
        place: Where it starts.
        keys: Where the keys of a dict stand.
        size: How many values it holds, itself included.
        height: How many levels it has; 1 for a scalar.
    """

    value: Scalar | list[Node] | dict[str, Node]
    place: Place
    keys: dict[str, Place] = field(default_factory=dict)
    size: int = 1
    height: int = 1

    @property
    def kind(self) -> str:
        """Its type in words."""
        if self.value is None:
            return "an empty value"
        return _KINDS[type(self.value)]

    def plain(self) -> Any:  # noqa: ANN401 - any JSON value
        """Give the value without places; every call makes a new one."""
        if isinstance(self.value, dict):
            return {name: node.plain() for name, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value


_KINDS: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "a mapping",
}


def parse_nodes(text: str, *, file: str, problems: Problems) -> Node:
    """Parse the text of one YAML document.

    Args:
        text: The text.
        file: What the file is called in messages.
        problems: Takes repeated keys, tags, keys that are no text, and ambiguous words.

    Returns:
        The tree.

    Raises:
        UnreadableError: The text is no YAML, has several documents, is nested too deeply, or
            its aliases go in a circle or multiply beyond bounds.
    """
    import yaml

    strange = yaml.reader.Reader.NON_PRINTABLE.search(text)
    if strange is not None:
        place = Place(file, text.count("\n", 0, strange.start()) + 1)
        what = f"the character U+{ord(strange[0]):04X} may not stand in it; leave it out"
        raise UnreadableError(Problem(place, "bad_yaml", f"this is no YAML: {what}"))
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _Builder(yaml.parse(text, Loader=loader), file, problems).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place(file, mark.line + 1 if mark else 1)
        what = f"{error.problem or error.context}; look at indentation, brackets and quotes there"
        raise UnreadableError(Problem(place, "bad_yaml", f"this is no YAML: {what}")) from None


class _Builder:
    """Builds nodes from events."""

    def __init__(self, events: Iterator[Any], file: str, problems: Problems) -> None:
        self._events = events
        self._file = file
        self._problems = problems
        self._anchors: dict[str, Node | None] = {}
        self._count = 0

    def document(self) -> Node:
        """Build the one document of a stream."""
        next(self._events)
        start = next(self._events)
        if type(start).__name__ == "StreamEndEvent":
            return Node(None, Place(self._file, 1))
        node = self._node(next(self._events), 1)
        next(self._events)
        following = next(self._events)
        if type(following).__name__ != "StreamEndEvent":
            text = "a second document starts here; give it a file of its own"
            self._stop(following, "several_documents", text)
        return node

    def _node(self, event: Any, depth: int) -> Node:  # noqa: ANN401 - an event of PyYAML
        self._check_depth(event, depth)
        kind = type(event).__name__
        if kind == "AliasEvent":
            node = self._aliased(event)
            self._check_depth(event, depth + node.height - 1)
            return self._counted(event, node)
        self._refuse_tag(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        if kind == "ScalarEvent":
            node = self._scalar(event)
        elif kind == "SequenceStartEvent":
            node = self._sequence(event, depth)
        else:
            node = self._mapping(event, depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        return node

    def _aliased(self, event: Any) -> Node:  # noqa: ANN401
        if event.anchor not in self._anchors:
            self._stop(event, "unknown_alias", f"*{event.anchor} has no anchor before it")
        node = self._anchors[event.anchor]
        if node is None:
            self._stop(event, "circular_alias", f"*{event.anchor} stands inside its own anchor")
        return node

    def _scalar(self, event: Any) -> Node:  # noqa: ANN401
        place = self._place(event)
        if not event.implicit[0]:
            if _SURROGATE.search(event.value):
                text = "half of a surrogate pair is no character; write the character itself"
                self._stop(event, "bad_yaml", f"this is no YAML: {text}")
            return self._counted(event, Node(event.value, place))
        reading = read_word(event.value)
        if reading.trap:
            self._problems.add(place, "ambiguous_word", reading.trap)
        return self._counted(event, Node(reading.value, place))

    def _sequence(self, event: Any, depth: int) -> Node:  # noqa: ANN401
        items: list[Node] = []
        while type(following := next(self._events)).__name__ != "SequenceEndEvent":
            items.append(self._node(following, depth + 1))
        node = Node(items, self._place(event), {}, _size(items), _height(items))
        return self._counted(event, node)

    def _mapping(self, event: Any, depth: int) -> Node:  # noqa: ANN401
        values: dict[str, Node] = {}
        keys: dict[str, Place] = {}
        merged: list[Node] = []
        while type(key := next(self._events)).__name__ != "MappingEndEvent":
            name = self._key(key, depth)
            value = self._node(next(self._events), depth + 1)
            if name == "<<" and getattr(key, "implicit", (False,))[0]:
                merged += self._to_merge(value)
            elif name is not None:
                self._enter(name, value, self._place(key), values=values, keys=keys)
        for source in merged:
            values |= {name: node for name, node in _entries(source) if name not in values}
            keys = source.keys | keys
        inner = list(values.values())
        node = Node(values, self._place(event), keys, _size(inner), _height(inner))
        return self._counted(event, node)

    def _enter(
        self,
        name: str,
        value: Node,
        place: Place,
        *,
        values: dict[str, Node],
        keys: dict[str, Place],
    ) -> None:
        if name in keys:
            text = f"the key {name!r} stands twice; the first is in line {keys[name].line}"
            self._problems.add(place, "repeated_key", text)
        else:
            values[name], keys[name] = value, place

    def _key(self, event: Any, depth: int) -> str | None:  # noqa: ANN401
        """Read a key; None for one that is no text, which is noted."""
        place = self._place(event)
        if getattr(event, "value", None) == "<<" and event.implicit[0]:
            return "<<"
        node = self._node(event, depth + 1)
        if isinstance(node.value, str):
            return node.value
        text = f"a key is {node.kind}; use a text"
        if not isinstance(node.value, list | dict):
            text = f"the key {json.dumps(node.value)} is {node.kind}; put it in quotes"
        self._problems.add(place, "key_not_text", text)
        return None

    def _to_merge(self, value: Node) -> list[Node]:
        several = value.value if isinstance(value.value, list) else [value]
        for node in several:
            if not isinstance(node.value, dict):
                text = f"<< merges mappings, but here it is given {node.kind}"
                self._problems.add(node.place, "bad_merge", text)
        return [node for node in several if isinstance(node.value, dict)]

    def _refuse_tag(self, event: Any) -> None:  # noqa: ANN401
        if event.tag is not None:
            text = f"the tag {event.tag!r} is refused; write the plain value"
            self._problems.add(self._place(event), "tag", text)

    def _counted(self, event: Any, node: Node) -> Node:  # noqa: ANN401
        """Count what a node adds: one, or with an alias everything that it repeats."""
        self._count += node.size if type(event).__name__ == "AliasEvent" else 1
        if self._count > MOST_NODES:
            text = f"more than {MOST_NODES:,} values, what aliases repeat counted each time"
            self._stop(event, "too_large", text)
        return node

    def _check_depth(self, event: Any, depth: int) -> None:  # noqa: ANN401
        if depth > DEEPEST:
            text = f"nested more than {DEEPEST} levels deep, what aliases repeat included"
            self._stop(event, "too_deep", text)

    def _place(self, event: Any) -> Place:  # noqa: ANN401
        return Place(self._file, event.start_mark.line + 1)

    def _stop(self, event: Any, code: str, text: str) -> NoReturn:  # noqa: ANN401
        raise UnreadableError(Problem(self._place(event), code, text))


def _entries(node: Node) -> Iterator[tuple[str, Node]]:
    if isinstance(node.value, dict):
        yield from node.value.items()


def _size(inner: Iterable[Node]) -> int:
    return 1 + sum(node.size for node in inner)


def _height(inner: Iterable[Node]) -> int:
    return 1 + max((node.height for node in inner), default=0)
