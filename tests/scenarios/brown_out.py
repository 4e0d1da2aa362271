"""A brown-out of the model that one kind asks alone: its breaker is nobody else's. The model's list is the witness."""

from __future__ import annotations

from typing import Any

import httpx

from onceward.domain.breaking import BreakerRule
from tests.scenarios.models import ILL_MODEL
from tests.scenarios.stack import PATIENCE_WITH_STARTS, until
from tests.scenarios.witness import Witness
from tests.support.deployed.terms import BROWN_OUT
from tests.support.model_server import ModelServer

FAILURES = BreakerRule().failures  # the stack changes the pauses alone


def arrivals(model: ModelServer) -> list[float]:
    """When each request for the ill model came, in seconds."""
    return [one["at"] for one in _asked(model)]


def in_vain(model: ModelServer) -> int:
    """How many of them got no answer, or a bad one."""
    return sum(one["status"] != httpx.codes.OK for one in _asked(model))


def _asked(model: ModelServer) -> list[dict[str, Any]]:
    """The requests for the ill model, the oldest first."""
    return [one for one in model.requests() if one["model"] == ILL_MODEL]


def fall_ill(model: ModelServer, **how: Any) -> None:
    """Let the model answer badly until it is told to be well."""
    model.behave(model=ILL_MODEL, **how)


def heal(model: ModelServer) -> None:
    """Let it answer again; what was counted stays counted."""
    model.behave(model=ILL_MODEL, status=None, drop=False)


def broken(witness: Witness) -> list[str]:
    """As many jobs as it takes, all in one batch: each sends once, and the last one's failure opens the breaker."""
    with witness.stack.queue_closed():
        ids = [witness.created(BROWN_OUT, f"<brown-out {number}>") for number in range(FAILURES)]
        until(lambda: witness.visible() >= FAILURES or None, "all messages can be delivered in one batch")
    sent(witness, FAILURES)
    return ids


def sent(witness: Witness, count: int) -> None:
    """Wait until the ill model has got so many requests."""
    model = witness.stack.model
    until(lambda: len(arrivals(model)) >= count or None, f"the model got {count}", PATIENCE_WITH_STARTS)
