"""Scorers of tool calls and trajectories."""
