"""Which model each of the tests' kinds asks on the deployed stack."""

from __future__ import annotations

import json

from onceward.local.model import STAND_IN_MODEL
from tests.support.deployed.terms import BROWN_OUT, LATER, LATER_BATCH, PROMISES, kind_of

MODEL_KEY = "canary-model-key-0b3d"  # the secret's text, looked for wherever it could have got to
ILL_MODEL = "onceward-stand-in-2"  # asked by one kind alone, so that its circuit breaker is nobody else's


def models_by_kind(base_url: str) -> str:
    """The one model server under its several names, APIs and promises, as the stack's parameter says it."""
    target = {"api": "openai", "url": base_url, "name": STAND_IN_MODEL}
    promised = {
        kind_of(name, promise): {**target, "capability": promise}
        for name in ("test.ask", "test.patient")
        for promise in PROMISES
        if promise != "none"
    }
    others = {
        LATER: {**target, "answers": "later"},
        LATER_BATCH: {**target, "api": "anthropic", "answers": "later"},
        BROWN_OUT: {**target, "name": ILL_MODEL},
    }
    return json.dumps({**promised, **others})
