"""Mutators of interpreted state: run on copies, compared, told in tables."""
