"""Compute what a call cost, and what it can cost at most, from the dated table or from prices of your own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, timedelta

from onceward.domain.records import Usage
from onceward.providers.price_table import AS_OF, PRICES, Price
from onceward.usecases.ports import ModelRequest

STALE_AFTER = timedelta(days=180)  # providers change prices a few times a year; older figures are to be looked at
_MILLION = 1_000_000
# gpt-4o-mini-2024-07-18 and claude-haiku-4-5-20251001-v1:0 cost what the names before their dates cost.
_VERSION = re.compile(r"-v\d+(?::\d+)?$")
_SNAPSHOT = re.compile(r"-20\d\d-?\d\d-?\d\d$|-latest$")
_TOKENS_PER_MESSAGE = 64  # roles and separators: a handful, with room
_TOKENS_AROUND = 1_024  # what providers put around a request of their own, the JSON mode's instruction above all


def price_of(model: str, usage: Usage | None, prices: Mapping[str, Price] = PRICES) -> int | None:
    """Micro-USD of a usage, rounded up once over the whole; ``None``: no usage, or no price is known.

    ``cached`` and ``cache_write`` are part of ``input``, ``reasoning`` is part of ``output``: nothing is paid twice.
    """
    price = find_price(model, prices)
    if price is None or usage is None:
        return None
    fresh = usage.input - usage.cached - usage.cache_write
    if fresh < 0:
        return None
    total = fresh * price.input + usage.cached * price.cached + usage.cache_write * price.written
    return -(-(total + usage.output * price.output) // _MILLION)


def most_of(model: str, request: ModelRequest, prices: Mapping[str, Price] = PRICES) -> int | None:
    """Micro-USD that one call can cost at most: every byte sent a token, and the whole output limit; ``None``: unknown.

    No tokenizer makes more than one token of a byte, so this holds without knowing which one it is.
    """
    price = find_price(model, prices)
    if price is None:
        return None
    texts = [text for _, text in request.messages] + [request.json_schema or ""]
    sent = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    tokens = sent + _TOKENS_PER_MESSAGE * len(request.messages) + _TOKENS_AROUND
    return -(-(tokens * price.dearest_input + request.max_output_tokens * price.output) // _MILLION)


def find_price(model: str, prices: Mapping[str, Price] = PRICES) -> Price | None:
    """A model's price by its own name, else by the name that its version or snapshot belongs to."""
    unversioned = _VERSION.sub("", model)
    names = (model, unversioned, _SNAPSHOT.sub("", unversioned))
    return next((prices[name] for name in names if name in prices), None)


def is_outdated(today: date) -> bool:
    """Whether the table is so old that somebody should look at it; costs are still computed from it."""
    return today - AS_OF > STALE_AFTER


__all__ = ["AS_OF", "PRICES", "Price", "find_price", "is_outdated", "most_of", "price_of"]
