"""Charts of results: a matplotlib figure, the tidy frame that was drawn, a caption and alt text.

Nothing here computes a statistic: every number drawn is a column of the result.

Example:
    >>> from evaltoolkit import plots
    >>> "paired_deltas" in dir(plots)
    True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evaltoolkit.plots.chart import Chart as Chart
    from evaltoolkit.plots.forest import paired_deltas as paired_deltas
    from evaltoolkit.plots.ladder import correction_ladder as correction_ladder
    from evaltoolkit.plots.spread import distributions as distributions

_MODULE_OF = {
    "Chart": "chart",
    "correction_ladder": "ladder",
    "distributions": "spread",
    "paired_deltas": "forest",
}

__all__ = ["Chart", "correction_ladder", "distributions", "paired_deltas"]


# Hidden from type checkers: to them a name that is not imported above is a mistake.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Load a chart from its module on first use."""
        from importlib import import_module

        if name not in _MODULE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})
