"""The stand-in's brain: pure functions from text to extracted facts; not a language model.

Deterministic, linear in the text, bounded in what it reads and returns.
"""
