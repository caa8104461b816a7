"""Scorers of state: of the world, and interpreted with confidences."""
