"""Which actual call stands for which wanted one: as many pairs as possible, or first come."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeVar

from evaltoolkit.scorers.base import Unmeasurable

Pair = tuple[int, int]
"""Places of a wanted and an actual item."""

MAX_CALLS = 1000
"""Calls of one side that are paired; the time grows with the product of both counts."""

T = TypeVar("T")


def candidates(
    wanted: Sequence[T], offered: Sequence[T], fits: Callable[[T, T], bool]
) -> list[list[int]]:
    """List for every wanted item the places of the offered ones that would do.

    Args:
        wanted: Items to be found.
        offered: Items among which they are looked for.
        fits: Says of an offered and a wanted item whether the one will do.

    Raises:
        Unmeasurable: There are more than `MAX_CALLS` of either.
    """
    check_size(wanted, offered)
    return [[c for c, item in enumerate(offered) if fits(item, one)] for one in wanted]


def check_size(wanted: Sequence[T], offered: Sequence[T]) -> None:
    """Refuse to compare everything with everything where that would take for ever.

    Raises:
        Unmeasurable: There are more than `MAX_CALLS` of either.
    """
    most = max(len(wanted), len(offered))
    if most > MAX_CALLS:
        msg = f"there are {most} tool calls; at most {MAX_CALLS} are paired"
        raise Unmeasurable(msg)


def most_pairs(options: Sequence[Sequence[int]]) -> list[Pair]:
    """Pair as many rows as possible with different columns.

    Augmenting paths in a bipartite graph (Berge, "Two theorems in graph theory", 1957; Kuhn, "The
    Hungarian method for the assignment problem", 1955).

    Args:
        options: For every row, the columns that it may take.

    Returns:
        The pairs, in the order of the rows. Which of several best pairings comes out depends on
        the order, their number does not.

    Example:
        >>> most_pairs([[0, 1], [0]])
        [(0, 1), (1, 0)]
    """
    held: dict[int, int] = {}
    holder: dict[int, int] = {}
    closed: set[int] = set()
    for row in range(len(options)):
        came_from: dict[int, int] = {}
        free = _search(row, options, holder, came_from, closed)
        if free is None:
            # No path from here can ever end in a free column, so nobody need look again.
            closed.update(came_from)
            continue
        column: int | None = free
        while column is not None:
            taker = came_from[column]
            holder[column] = taker
            held[taker], column = column, held.get(taker)
    return sorted(held.items())


def first_pairs(options: Sequence[Sequence[int]]) -> list[Pair]:
    """Give every row the first column that is still free, as the published systems do.

    Example:
        >>> first_pairs([[0, 1], [0]])
        [(0, 0)]
    """
    taken: dict[int, int] = {}
    for row, columns in enumerate(options):
        column = next((c for c in columns if c not in taken), None)
        if column is not None:
            taken[column] = row
    return sorted((row, column) for column, row in taken.items())


def pairs_in_order(options: Sequence[Sequence[int]], width: int) -> list[Pair]:
    """Pair as many rows as possible with columns so that both keep their order.

    The longest common subsequence (Wagner and Fischer, "The string-to-string correction problem",
    1974).

    Args:
        options: For every row, the columns that it may take.
        width: How many columns there are.

    Example:
        >>> pairs_in_order([[1], [0], [2]], 3)
        [(1, 0), (2, 2)]
    """
    allowed = [set(columns) for columns in options]
    # best[row][column]: how many pairs the rows and columns from there on make.
    best = [[0] * (width + 1) for _ in range(len(allowed) + 1)]
    for row in range(len(allowed) - 1, -1, -1):
        line, below, fits = best[row], best[row + 1], allowed[row]
        for column in range(width - 1, -1, -1):
            longest = max(below[column], line[column + 1])
            line[column] = max(longest, below[column + 1] + 1) if column in fits else longest
    return _trace(best, allowed, width)


def first_in_order(
    wanted: Sequence[T], offered: Sequence[T], fits: Callable[[T, T], bool]
) -> list[Pair]:
    """Look for the wanted items one after another, never going back; stop where one is lacking.

    Taking the earliest is always enough to find a whole subsequence.

    Example:
        >>> first_in_order("ac", "abc", lambda one, other: one == other)
        [(0, 0), (1, 2)]
    """
    pairs: list[Pair] = []
    column = 0
    for row, item in enumerate(wanted):
        while column < len(offered) and not fits(offered[column], item):
            column += 1
        if column == len(offered):
            return pairs
        pairs.append((row, column))
        column += 1
    return pairs


def _search(
    start: int,
    options: Sequence[Sequence[int]],
    holder: dict[int, int],
    came_from: dict[int, int],
    closed: set[int],
) -> int | None:
    """Look for a free column along paths of taken ones, breadth first."""
    queue = deque([start])
    while queue:
        row = queue.popleft()
        for column in options[row]:
            if column in came_from or column in closed:
                continue
            came_from[column] = row
            if column not in holder:
                return column
            queue.append(holder[column])
    return None


def _trace(best: list[list[int]], allowed: Sequence[set[int]], width: int) -> list[Pair]:
    pairs: list[Pair] = []
    row = column = 0
    while row < len(allowed) and column < width:
        if column in allowed[row] and best[row][column] == best[row + 1][column + 1] + 1:
            pairs.append((row, column))
            row, column = row + 1, column + 1
        elif best[row + 1][column] >= best[row][column + 1]:
            row += 1
        else:
            column += 1
    return pairs
