"""ipywidgets views of score tables; they show results and compute nothing."""

from evaltoolkit.widgets.explorer import Explorer, explore

__all__ = ["Explorer", "explore"]
