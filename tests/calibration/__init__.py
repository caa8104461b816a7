"""Simulations with a known truth: do intervals and tests keep what they promise?"""
