"""The dated table of what tokens cost. A model that is not in it is unpriced, which is never the same as free.

Source: the providers' price lists, read through the data of the package genai-prices 0.2.3 (MIT); standard tier.
Models whose price depends on the length of the prompt are left out rather than half right. Update ``AS_OF`` with the
table; a deployment's own prices (``model_prices``) go before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date

AS_OF = date(2026, 11, 30)


@dataclass(frozen=True, slots=True)
class Price:
    """Micro-USD for a million tokens: fresh input, input read from the provider's cache, output, input written there.

    Where writing to the cache is not priced apart it costs what fresh input costs.
    """

    input: int
    cached: int
    output: int
    cache_write: int | None = None

    @property
    def written(self) -> int:
        """What a million tokens written to the cache cost."""
        return self.input if self.cache_write is None else self.cache_write

    @property
    def dearest_input(self) -> int:
        """What a million input tokens cost at most, however the provider counts them."""
        return max(self.input, self.cached, self.written)


_OPENAI: Mapping[str, Price] = {
    "gpt-4.1": Price(2_000_000, 500_000, 8_000_000),
    "gpt-4.1-mini": Price(400_000, 100_000, 1_600_000),
    "gpt-4.1-nano": Price(100_000, 25_000, 400_000),
    "gpt-4o": Price(2_500_000, 1_250_000, 10_000_000),
    "gpt-4o-2024-05-13": Price(5_000_000, 5_000_000, 15_000_000),
    "gpt-4o-mini": Price(150_000, 75_000, 600_000),
    "gpt-5": Price(1_250_000, 125_000, 10_000_000),
    "gpt-5-mini": Price(250_000, 25_000, 2_000_000),
    "gpt-5-nano": Price(50_000, 5_000, 400_000),
    "gpt-5.1": Price(1_250_000, 125_000, 10_000_000),
    "gpt-5.2": Price(1_750_000, 175_000, 14_000_000),
    "gpt-5.4-mini": Price(750_000, 75_000, 4_500_000),
    "gpt-5.4-nano": Price(200_000, 20_000, 1_250_000),
    "o3-mini": Price(1_100_000, 550_000, 4_400_000),
    "o4-mini": Price(1_100_000, 275_000, 4_400_000),
}
_ANTHROPIC: Mapping[str, Price] = {
    "claude-fable-5": Price(10_000_000, 1_000_000, 50_000_000, 12_500_000),
    "claude-haiku-4-5": Price(1_000_000, 100_000, 5_000_000, 1_250_000),
    "claude-opus-4-1": Price(15_000_000, 1_500_000, 75_000_000, 18_750_000),
    "claude-opus-4-5": Price(5_000_000, 500_000, 25_000_000, 6_250_000),
    "claude-opus-4-6": Price(5_000_000, 500_000, 25_000_000, 6_250_000),
    "claude-opus-4-7": Price(5_000_000, 500_000, 25_000_000, 6_250_000),
    "claude-opus-4-8": Price(5_000_000, 500_000, 25_000_000, 6_250_000),
    "claude-opus-5": Price(5_000_000, 500_000, 25_000_000, 6_250_000),
    "claude-opus-5-5": Price(4_000_000, 200_000, 20_000_000, 5_000_000),
    "claude-sonnet-4-6": Price(3_000_000, 300_000, 15_000_000, 3_750_000),
    "claude-sonnet-5": Price(2_000_000, 200_000, 10_000_000, 2_500_000),
    "claude-sonnet-5-5": Price(2_000_000, 100_000, 10_000_000, 2_500_000),
}
_NOVA: Mapping[str, Price] = {
    "amazon.nova-micro": Price(35_000, 8_750, 140_000),
    "amazon.nova-lite": Price(60_000, 15_000, 240_000),
    "amazon.nova-pro": Price(800_000, 200_000, 3_200_000),
    "amazon.nova-premier": Price(2_500_000, 625_000, 12_500_000),
}
_ON_BEDROCK = (
    "claude-haiku-4-5",
    "claude-opus-4-7",
    "claude-opus-4-8",
    "claude-opus-5",
    "claude-sonnet-4-6",
    "claude-sonnet-5",
)
_GEOGRAPHIES = ("us", "eu", "jp", "au")


def _a_tenth_more(price: Price) -> Price:
    """What a model costs on Bedrock where it is kept to one geography."""
    input_, cached, output, written = (
        part * 11 // 10 for part in (price.input, price.cached, price.output, price.written)
    )
    return replace(price, input=input_, cached=cached, output=output, cache_write=written)


PRICES: Mapping[str, Price] = {
    **_OPENAI,
    **_ANTHROPIC,
    **_NOVA,
    **{f"{place}.{name}": price for name, price in _NOVA.items() for place in ("us", "eu", "apac")},
    **{f"global.anthropic.{name}": _ANTHROPIC[name] for name in _ON_BEDROCK},
    **{f"{place}.anthropic.{name}": _a_tenth_more(_ANTHROPIC[name]) for name in _ON_BEDROCK for place in _GEOGRAPHIES},
    # The stand-in of the local cloud costs nobody anything: a price for demonstration, so that books have figures.
    "onceward-stand-in-1": Price(1_000_000, 500_000, 4_000_000),
}
