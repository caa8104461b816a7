"""Take typed fields out of a mapping of a benchmark file, and note what does not fit."""

from __future__ import annotations

from collections.abc import Sequence

from evaltoolkit.errors import listed, nearest
from evaltoolkit.evaluation.benchmarks.nodes import Node
from evaltoolkit.evaluation.benchmarks.places import Place, Problems


class Fields:
    """The fields of one mapping.

    Args:
        node: The mapping; anything else is noted and has no fields.
        what: What the mapping is, for messages.
        known: The fields that it may have; others are noted.
        problems: Takes what is wrong.

    Attributes:
        is_mapping: Whether it is one.
        wrong: Fields of a type that they must not have; noted, so nothing else is made of them.
    """

    def __init__(self, node: Node, what: str, known: Sequence[str], problems: Problems) -> None:
        self.place = node.place
        self.keys = node.keys
        self.what = what
        self.problems = problems
        self.is_mapping = isinstance(node.value, dict)
        self.wrong: set[str] = set()
        self._values: dict[str, Node] = node.value if isinstance(node.value, dict) else {}
        if not self.is_mapping:
            self.note(node.place, "wrong_type", f"{what} must be a mapping, not {node.kind}")
        for name in self._values:
            if name not in known:
                text = f"{what} has no key {name!r} ({nearest(name, known)})"
                self.note(node.keys[name], "unknown_key", text)

    def note(self, place: Place, code: str, text: str) -> None:
        """Note a problem."""
        self.problems.add(place, code, text)

    def __contains__(self, name: str) -> bool:
        """Whether a field is there."""
        return name in self._values

    def node(self, name: str, kinds: tuple[type, ...], *, needed: bool = False) -> Node | None:
        """Give a field if it has one of the types; note it otherwise, or if it is missing."""
        node = self._values.get(name)
        if node is None:
            if needed and self.is_mapping:
                self.note(self.place, "missing_key", f"{self.what} needs the key {name!r}")
            return None
        if isinstance(node.value, kinds) and (bool in kinds or not isinstance(node.value, bool)):
            return node
        self.wrong.add(name)
        wanted = " or ".join(_WORDS[kind] for kind in kinds) if len(kinds) < _MANY else "a value"
        text = f"{name!r} of {self.what} must be {wanted}, not {node.kind}"
        if node.value is None:
            remedy = "" if needed else ", or leave the key out"
            text = f"{name!r} of {self.what} is empty; give it {wanted}{remedy}"
        self.note(node.place, "wrong_type", text)
        return None

    def text(self, name: str, *, needed: bool = False) -> str | None:
        """Give a text that is not empty."""
        node = self.node(name, (str,), needed=needed)
        if node is None or not isinstance(node.value, str):
            return None
        if not node.value.strip():
            self.note(node.place, "empty", f"{name!r} of {self.what} is empty")
        return node.value

    def count(self, name: str) -> int:
        """Give a whole number from 1 on; 1 where there is none."""
        node = self.node(name, (int,))
        if node is None or not isinstance(node.value, int):
            return 1
        if node.value < 1:
            self.note(node.place, "out_of_range", f"{name!r} of {self.what} must be 1 or more")
        return max(node.value, 1)

    def choice(self, name: str, allowed: Sequence[str]) -> str:
        """Give one of some words; the first where there is none."""
        node = self.node(name, (str,))
        if node is None:
            return allowed[0]
        if node.value not in allowed:
            text = (
                f"{name!r} of {self.what} is {node.value!r}; it must be one of "
                f"{listed(allowed, limit=9)} ({nearest(node.value, allowed)})"
            )
            self.note(node.place, "bad_choice", text)
            return allowed[0]
        return str(node.value)

    def items(self, name: str, *, needed: bool = False) -> list[Node]:
        """Give the entries of a list."""
        node = self.node(name, (list,), needed=needed)
        return node.value if node is not None and isinstance(node.value, list) else []

    def entries(self, name: str, *, needed: bool = False) -> dict[str, Node]:
        """Give the entries of a mapping."""
        node = self.node(name, (dict,), needed=needed)
        return node.value if node is not None and isinstance(node.value, dict) else {}


_MANY = 4
_WORDS: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "a mapping",
}
