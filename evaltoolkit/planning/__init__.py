"""How many examples and trials a comparison needs, before it is run."""

from evaltoolkit.planning.analysis import plan

__all__ = ["plan"]
