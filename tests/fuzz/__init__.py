"""Inputs that nobody meant: a stated number of them in ``make test``, twenty times as many in ``make prove``."""
