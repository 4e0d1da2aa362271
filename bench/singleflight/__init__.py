"""SingleFlight beside its peers on PyPI: who is right, and what a call costs."""
