"""How a kind opts in to coalescing: what makes two jobs the same question, and what becomes of work nobody wants.

The key itself is built by the engine (``usecases/coalesce_key.py``): a kind only says what the engine cannot see.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class AccessScope(StrEnum):
    """Among whom a result may be shared, always inside one tenant."""

    TENANT = "tenant"
    CREATOR = "creator"  # only jobs of the same user or client: for kinds whose answer depends on who asks


class OnEmpty(StrEnum):
    """What becomes of a flight whose last participant has gone."""

    CANCEL_UNSENT = "cancel_unsent"  # what is paid for is finished, what is not is not begun
    CANCEL = "cancel"  # also drops a call that is under way; what it may have cost stays in the books
    FINISH = "finish"


@dataclass(frozen=True, slots=True, kw_only=True)
class CoalesceBy:
    """A kind's part of the key: what its code says to the model beside the input.

    ``instructions``: the system prompt and every other constant text; ``parameters``: what else of the request is
    constant (output limit, temperature, schema name). A change of either parts old jobs from new ones, also if its
    author forgot to raise the kind's version.
    """

    instructions: str
    parameters: Mapping[str, str | int | float | bool | None] = field(default_factory=dict)
    scope: AccessScope = AccessScope.TENANT
    on_empty: OnEmpty = OnEmpty.CANCEL_UNSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class FlightLimits:
    """Beyond these a job runs on its own: how many a flight serves, and how many flights a tenant has at once.

    The tenant's count is one item that each start and each end of a flight writes, so its limit bounds how hot it
    gets: a hundred flights of twenty seconds each are ten writes a second.
    """

    participants: int = 100
    flights: int = 100
