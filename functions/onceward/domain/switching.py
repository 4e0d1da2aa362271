"""Kill switches: what an operator has switched off, by name.

A name is ``all``, ``provider:<name>`` or ``kind:<name>``. What is not named is on, so an empty set, or none at all,
lets everything run.
"""

from __future__ import annotations

import re
from datetime import timedelta

ALL = "all"
# How long a process goes by what it has read. A switch is thrown in a fire: seconds count, and one small read every few
# seconds of a process that sends is cheaper than one before each send.
KNOWN_FOR = timedelta(seconds=5)

_NAME = re.compile(r"all|(?:kind|provider):[A-Za-z0-9_.-]{1,64}")


def is_switch(text: str) -> bool:
    """Whether ``text`` can name a switch."""
    return _NAME.fullmatch(text) is not None


def switches_over(kind: str, provider: str) -> frozenset[str]:
    """The switches that stop a send of a kind to a provider, any one of them."""
    return frozenset({ALL, f"kind:{kind}", f"provider:{provider}"})


def is_switched_off(off: frozenset[str], kind: str, provider: str) -> bool:
    """Whether a send may not be made by what is known to be off."""
    return not off.isdisjoint(switches_over(kind, provider))
