"""Scorers that ask a model: judges and embeddings."""
