"""What tokens cost."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from datetime import timedelta

import pytest

from onceward import providers
from onceward.domain.money import Cost
from onceward.domain.records import Usage
from onceward.providers.prices import (
    AS_OF,
    PRICES,
    STALE_AFTER,
    Price,
    find_price,
    is_outdated,
    most_of,
    price_of,
)
from onceward.usecases.ports import ModelRequest


@pytest.mark.parametrize(
    ("usage", "micro_usd"),
    [
        pytest.param(Usage(input=20_212, cached=16_298, output=931), 5_565, id="PR-22 cached tokens are part of input"),
        pytest.param(Usage(input=100, output=1_200, reasoning=1_100), 3_650, id="PR-25 reasoning is part of output"),
        pytest.param(Usage(input=1), 1, id="a fraction of a micro-dollar is one"),
        pytest.param(Usage(), 0, id="nothing was counted"),
    ],
)
def test_a_usage_is_priced_once_and_rounded_up(usage: Usage, micro_usd: int) -> None:
    """No token is paid twice, and no sum is rounded in our own favour."""
    prices = {"m": Price(input=500_000, cached=50_000, output=3_000_000)}

    assert micro_usd == price_of("m", usage, prices)


@pytest.mark.parametrize(
    ("usage", "micro_usd"),
    [
        # 50 x 3 + 100,000 x 0.3 + 20 x 15 dollars a million = 150 + 30,000 + 300 micro-dollars
        pytest.param(Usage(input=100_050, cached=100_000, output=20), 30_450, id="PR-23 cache reads are added"),
        # 50 x 3 + 1,000 x 3.75 + 20 x 15 = 150 + 3,750 + 300
        pytest.param(Usage(input=1_050, cache_write=1_000, output=20), 4_200, id="writing to the cache costs more"),
        pytest.param(Usage(input=10, cached=8, cache_write=8), None, id="more cached than there was"),
    ],
)
def test_what_the_cache_read_and_wrote_has_prices_of_its_own(usage: Usage, micro_usd: int | None) -> None:
    """Additive at Anthropic and Bedrock; counts that contradict each other have no price."""
    prices = {"m": Price(input=3_000_000, cached=300_000, output=15_000_000, cache_write=3_750_000)}

    assert micro_usd == price_of("m", usage, prices)


@pytest.mark.parametrize(
    ("model", "messages", "schema", "limit", "micro_usd"),
    [
        # (4 bytes + 64 + 1,024) x $1 + 100 x $4 a million = 1,092 + 400
        pytest.param("cheap", (("user", "four"),), None, 100, 1_492, id="one short message"),
        # (8 bytes of 4 Cyrillic letters + 64 + 1,024) x $1 + 0
        pytest.param("cheap", (("user", "четы"),), None, 0, 1_096, id="bytes, not letters"),
        # (3 + 5 + 2 x 64 + 1,024) x $1 + 1,000 x $4
        pytest.param("cheap", (("system", "abc"), ("user", "defgh")), None, 1_000, 5_160, id="two messages"),
        # (4 + 17 + 64 + 1,024) x $1 + 10 x $4
        pytest.param("cheap", (("user", "four"),), '{"type":"object"}', 10, 1_149, id="the schema is sent too"),
        # (4 + 64 + 1,024) x $3.75, the dearest way to count input, + 100 x $15 = 4,095 + 1,500
        pytest.param("dear", (("user", "four"),), None, 100, 5_595, id="input at its dearest"),
        pytest.param("unheard-of", (("user", "four"),), None, 100, None, id="no price, no bound of our own"),
    ],
)
def test_six_upper_bounds_computed_by_hand(
    model: str, messages: tuple[tuple[str, str], ...], schema: str | None, limit: int, micro_usd: int | None
) -> None:
    """Every byte a token at the dearest price, and the whole output limit: no answer can cost more."""
    prices = {
        "cheap": Price(input=1_000_000, cached=500_000, output=4_000_000),
        "dear": Price(input=3_000_000, cached=300_000, output=15_000_000, cache_write=3_750_000),
    }
    request = ModelRequest(messages=messages, max_output_tokens=limit, json_schema=schema)

    assert micro_usd == most_of(model, request, prices)


def test_bounds_add_up_over_known_and_unknown_calls() -> None:
    """One call known to have cost 30,450, one that may have cost up to 5,595, one without a price, 750,000 at most."""
    total = Cost.exact(30_450) + Cost.maybe(5_595) + Cost(low=0, high=750_000, unpriced=True)

    assert (total.low, total.high, total.unpriced) == (30_450, 786_045, True)


def test_a_table_older_than_180_days_is_outdated() -> None:
    """It goes on pricing; somebody is told to look."""
    assert timedelta(days=180) == STALE_AFTER
    assert not is_outdated(AS_OF + timedelta(days=180))
    assert is_outdated(AS_OF + timedelta(days=181))


@pytest.mark.parametrize(
    ("model", "like"),
    [
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("claude-opus-4-1-latest", "claude-opus-4-1"),
        ("global.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5"),
        ("us.amazon.nova-lite-v1:0", "amazon.nova-lite"),
    ],
)
def test_a_version_costs_what_its_model_costs(model: str, like: str) -> None:
    """Anthropic's dates and Bedrock's versions."""
    assert price_of(model, Usage(input=1_000_000)) == price_of(like, Usage(input=1_000_000)) is not None


def test_a_geography_of_bedrock_costs_a_tenth_more() -> None:
    """Where a model is kept to one."""
    usage = Usage(input=1_000_000)

    assert price_of("eu.anthropic.claude-sonnet-5-v1:0", usage) == 2_200_000


def test_a_snapshot_costs_what_its_model_costs_unless_it_has_a_price_of_its_own() -> None:
    """A date at the end of a name is a snapshot of that model."""
    usage = Usage(input=1_000_000)

    assert price_of("gpt-4o-mini-2024-07-18", usage) == 150_000
    assert price_of("gpt-4o-2024-05-13", usage) == 5_000_000


@pytest.mark.failure_mode("F29")
@pytest.mark.parametrize("model", ["llama3", "gpt-4o-mini-audio", "", "gpt-5-mini-2025"])
def test_an_unknown_model_is_unpriced_and_never_free(model: str) -> None:
    """A price that nobody knows is not guessed from a similar name."""
    assert price_of(model, Usage(input=1)) is None


def test_a_call_without_usage_is_unpriced() -> None:
    """What was not counted cannot be priced."""
    assert price_of("gpt-4o", None) is None


def test_no_price_is_zero_and_cached_input_is_never_dearer() -> None:
    """A slip in the table would make calls free."""
    for price in PRICES.values():
        assert 0 < price.cached <= price.input < price.output


def test_a_batch_s_price_lookups_share_one_table_and_ask_nobody() -> None:
    """Every provider of a process has the one table in memory; a lookup is no coroutine and so can wait for nothing."""
    names = [one.name for one in pkgutil.iter_modules(providers.__path__)]
    modules = [importlib.import_module(f"onceward.providers.{name}") for name in names]
    found = [maker for module in modules for _, maker in inspect.getmembers(module, inspect.isclass)]
    makers = {maker for maker in found if maker.__module__.startswith(providers.__name__)}
    signatures = [inspect.signature(maker) for maker in makers if "prices" in inspect.signature(maker).parameters]

    assert len(signatures) >= len(("openai", "anthropic", "bedrock"))
    assert all(signature.parameters["prices"].default is PRICES for signature in signatures)
    assert not any(map(inspect.iscoroutinefunction, (price_of, most_of, find_price)))
