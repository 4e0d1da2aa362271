"""The stand-in model server: what providers speak over HTTP, in front of a deterministic extractive analyser.

It is NOT a language model. It exists so that `make run` and the tests work offline, and so that tests can
count, delay, drop and repeat what a real provider would do. Standard library only.
"""

STAND_IN_MODEL = "onceward-stand-in-1"  # the name says what it is wherever a model name is shown
STAND_IN_NOTICE = "deterministic extractive stand-in, not a language model"
