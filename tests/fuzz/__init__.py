"""Inputs that nobody meant, for a bounded time: longer with ``ONCEWARD_FUZZ_SECONDS``."""
