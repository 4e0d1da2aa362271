"""Spoil what providers send, and judge what was made of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from onceward.domain.retry import ErrorClass
from onceward.errors import CallFailure
from onceward.providers.http import HttpReply
from onceward.providers.prices import Price, price_of
from onceward.usecases.ports import ModelReply

NOW = datetime(2026, 11, 30, tzinfo=UTC)
CANARY = "SECRET-CANARY"
EXAMPLES = settings(deadline=None)  # a hundred; under `make prove` two thousand
PRICES = {name: Price(1_000_000, 500_000, 2_000_000) for name in ("m", "claude-x", "gpt-4o-mini-2024-07-18")}

JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=8) | st.just(CANARY),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8) | st.just("type"), inner, max_size=3)
    ),
    max_leaves=8,
)
HEADERS = st.dictionaries(
    st.sampled_from(
        ("retry-after", "retry-after-ms", "x-request-id", "request-id", "x-should-retry", "x-ratelimit-reset")
    ),
    st.text(max_size=20) | st.sampled_from(("5", "-1", "1e9", "Wed, 15 Jan 2025 12:02:00 GMT", "true", "false")),
    max_size=3,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place inside a body."""
    found = [path]
    if isinstance(value, dict):
        found += [place for key, part in value.items() for place in places(part, (*path, key))]
    elif isinstance(value, list):
        found += [place for index, part in enumerate(value) for place in places(part, (*path, index))]
    return found


@st.composite
def spoilt(draw: st.DrawFn, *bodies: Any) -> Any:
    """A good body in which some values are anything, or gone."""
    body = json.loads(json.dumps(draw(st.sampled_from(bodies))))
    for _ in range(draw(st.integers(0, 3))):
        path = draw(st.sampled_from(places(body)))
        if not path:
            return draw(JUNK)
        holder = body
        for step in path[:-1]:
            holder = holder[step]
        if draw(st.booleans()) or isinstance(holder, list):
            holder[path[-1]] = draw(JUNK)
        else:
            del holder[path[-1]]
    return body


def judge(outcome: ModelReply | CallFailure) -> None:
    """Its class, its counts, its price; nothing of what was sent in its words."""
    if outcome.usage is not None:
        usage = outcome.usage
        assert min(usage.input, usage.cached, usage.cache_write, usage.output, usage.reasoning) >= 0
        assert usage.cached + usage.cache_write <= usage.input
        cost = price_of(outcome.model or "m", usage, PRICES)
        assert cost is None or cost >= 0
    if isinstance(outcome, CallFailure):
        assert outcome.error_class in set(ErrorClass)
        assert outcome.was_sent
        assert len(outcome.detail) < 100
        assert CANARY not in outcome.detail + outcome.code
        assert outcome.retry_after is None or outcome.retry_after.total_seconds() >= 0
    else:
        assert outcome.finish in {"stop", "tools", "other"}
    assert len(outcome.request_id or "") <= 128


def http(status: int, headers: dict[str, str], body: Any) -> HttpReply:
    """An answer; NaN and half characters travel as Python writes them."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return HttpReply(status=status, headers=headers, body=raw)
