"""The sentences of the invariants, by what they look at."""
