"""JUnit XML as a tree of test cases, read without risk.

A document that declares a type or entities is refused: those can make a small file expand to
gigabytes, and no test runner writes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET  # no declaration gets this far: see `_parsed`

from evaltoolkit.errors import ReadError
from evaltoolkit.readers.base import read_text

OUTCOMES = ("error", "failure", "skipped")
_OTHER_CHILDREN = frozenset({"properties", "system-out", "system-err"})
_LARGEST = 200_000_000
_ROOT = re.compile(r"<(\w+:)?testsuites?[\s>/]")
_BLANK = re.compile(r"\s*")


class End(NamedTuple):
    """One reason why a case did not simply pass; its kind is one of `OUTCOMES`."""

    kind: str
    message: str
    type: str
    text: str


@dataclass
class Case:
    """One test case.

    Attributes:
        record: Where it stands.
        suite: The suite that it is in.
        name: Its name, with the parameters in brackets.
        classname: The module or class of the test.
        properties: What the test recorded of itself.
        ends: How it ended; none where it passed.
        others: Kinds of children that are not known.
    """

    record: str
    suite: ET.Element
    name: str
    classname: str
    properties: dict[str, str]
    ends: list[End] = field(default_factory=list)
    others: list[str] = field(default_factory=list)


def suites(path: Path) -> list[ET.Element]:
    """Give every suite of a file, also those inside others.

    Raises:
        ReadError: It is too large, cut off, malformed, or declares entities.
    """
    root = _parsed(path)
    return [element for element in root.iter() if _name(element) == "testsuite"]


def _parsed(path: Path) -> ET.Element:
    if path.stat().st_size > _LARGEST:
        raise ReadError(
            f"{path}: the XML is larger than {_LARGEST // 1_000_000} MB and would be held in "
            "memory whole; write one file for each suite",
            code="too_large",
            path=str(path),
        )
    text = read_text(path)
    if _declares_a_type(text):
        raise ReadError(
            f"{path}: the XML declares a document type (<!DOCTYPE ...>), which may hold entities "
            "that expand without bound, and which no test runner writes; remove the declaration "
            "if you trust the file",
            code="unsafe_xml",
            path=str(path),
        )
    try:
        return ET.fromstring(text)
    except ET.ParseError as error:
        raise ReadError(
            f"{path}: the XML is cut off or malformed ({error}); copy the file again or run the "
            "tests again",
            code="bad_xml",
            path=str(path),
        ) from error


def _declares_a_type(text: str) -> bool:
    """Say whether a declaration stands before the root, the only place where XML allows one."""
    return text.startswith("<!", _after_prolog(text))


def _after_prolog(text: str) -> int:
    """Find where the root begins, or a declaration before it: after comments and instructions."""
    place = 0
    while True:
        blank = _BLANK.match(text, place)
        place = blank.end() if blank else place
        if text.startswith("<?", place):
            end = text.find("?>", place)
        elif text.startswith("<!--", place):
            end = text.find("-->", place)
        else:
            return place
        if end < 0:
            return len(text)
        place = text.index(">", end) + 1


def is_junit(head: bytes) -> bool:
    """Say whether a file that begins like this is JUnit XML."""
    if not head.lstrip().startswith(b"<"):
        return False
    text = head.decode("utf-8", "replace")
    place = _after_prolog(text)
    # What declares a type is recognised by the name of its root, to be refused for a reason.
    find = _ROOT.search if text.startswith("<!", place) else _ROOT.match
    return find(text, place) is not None


def cases(suite: ET.Element, numbers: Iterator[int]) -> Iterator[Case]:
    """Go through the test cases of one suite, but not of the suites inside it."""
    for element in suite:
        if _name(element) == "testcase":
            yield _case(suite, element, next(numbers))


def _case(suite: ET.Element, element: ET.Element, number: int) -> Case:
    case = Case(
        record=f"testcase {number}",
        suite=suite,
        name=element.get("name") or "",
        classname=element.get("classname") or suite.get("name") or "",
        properties=properties(element),
    )
    for child in element:
        kind = _name(child)
        if kind in OUTCOMES:
            text = "".join(child.itertext())
            case.ends.append(End(kind, child.get("message") or "", child.get("type") or "", text))
        elif kind not in _OTHER_CHILDREN:
            case.others.append(kind)
    return case


def properties(element: ET.Element) -> dict[str, str]:
    """Give the properties of a case or suite; of equal names the last counts, as in pytest."""
    found: dict[str, str] = {}
    for group in element:
        if _name(group) == "properties":
            for each in group:
                text = each.get("value")
                found[each.get("name") or ""] = (each.text or "") if text is None else text
    return found


def counted(suite: ET.Element) -> Mapping[str, int]:
    """Give the totals that a suite states of its own cases; those of suites inside it are not."""
    if any(_name(child) == "testsuite" for child in suite):
        return {}
    said = {name: suite.get(name, "") for name in ("tests", "failures", "errors", "skipped")}
    return {name: int(text) for name, text in said.items() if text.isascii() and text.isdigit()}


def _name(element: ET.Element) -> str:
    """Give the name of an element without its namespace."""
    return element.tag.rpartition("}")[2]
