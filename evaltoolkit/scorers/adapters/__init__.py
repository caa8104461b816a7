"""Scorers of other packages under their own names."""
