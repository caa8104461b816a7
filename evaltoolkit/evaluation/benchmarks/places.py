"""Where something stands in a benchmark file, and the list of everything that is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from evaltoolkit.errors import ReadError

SHOWN = 50
"""How many problems an error message lists."""

MOST_PROBLEMS = 1000
"""After how many problems reading stops."""

_LONGEST_TEXT = 600


class Place(NamedTuple):
    """A line of a file."""

    file: str
    line: int

    def __str__(self) -> str:
        """Show it the way compilers do, so that editors can jump there."""
        return f"{self.file}:{self.line}"


class Problem(NamedTuple):
    """One thing that is wrong, with the remedy."""

    place: Place
    code: str
    text: str

    def __str__(self) -> str:
        """Show the place, then what is wrong."""
        return f"{self.place}: {self.text}"


class UnreadableError(Exception):
    """A file cannot be understood beyond this point."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


@dataclass
class Problems:
    """Everything that is wrong with a benchmark, collected so that it is told at once.

    Attributes:
        name: What the benchmark is called in messages.
        found: The problems.
    """

    name: str = ""
    found: dict[Problem, None] = field(default_factory=dict)

    def add(self, place: Place, code: str, text: str) -> None:
        """Note a problem; one that an alias shows again is noted once.

        Raises:
            ReadError: There are too many by now.
        """
        self.found[Problem(place, code, _shortened(text))] = None
        if len(self.found) >= MOST_PROBLEMS:
            self.check()

    def check(self) -> None:
        """Fail if there is any.

        Raises:
            ReadError: It lists the problems by file and line.
        """
        if not self.found:
            return
        ordered = sorted(self.found, key=lambda problem: problem.place)
        lines = [f"  {problem}" for problem in ordered[:SHOWN]]
        if len(ordered) > SHOWN:
            lines.append(f"  and {len(ordered) - SHOWN} more")
        first = ordered[0]
        count = f"{len(ordered)} problem(s)" + (" or more" * (len(ordered) >= MOST_PROBLEMS))
        raise ReadError(
            f"the benchmark {self.name} has {count}:\n" + "\n".join(lines),
            code=first.code,
            path=str(first.place),
            value=tuple(str(problem) for problem in ordered),
        )


def _shortened(text: str) -> str:
    """Cut what a file may have made long out of the middle; the remedy stands at the end."""
    half = _LONGEST_TEXT // 2
    return text if len(text) <= _LONGEST_TEXT else f"{text[:half]} \u2026 {text[-half:]}"
