"""Tariffs: what the user is charged for one accepted result.

A tariff is fixed, or metered with a maximum. The maximum is what a create reserves, so a charge can never pass what was
held. What is metered is what was accepted: tokens of answers that count, pages of the result. A second attempt, a
failed call and a maybe are the operator's cost and never on the user's bill. Amounts are integer micro-USD; a sum of
tokens is rounded up once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from onceward.errors import Usage

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class PerPage:
    """So much for each page of the result, as the kind counts them."""

    micro_usd: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PerToken:
    """So much for a million tokens in and a million out; cached and reasoning ones are part of these."""

    input: int
    output: int


type Metered = PerPage | PerToken


def charge_for(metered: Metered | None, most: int, *, pages: int, answers: Iterable[Usage | None]) -> int:
    """The charge, at most ``most``; ``answers``: what each accepted answer used.

    An answer whose provider did not count its tokens adds nothing: nobody is charged for what nobody counted.
    """
    match metered:
        case None:
            return most
        case PerPage(micro_usd):
            return min(most, micro_usd * max(pages, 0))
        case PerToken(input=price_in, output=price_out):
            counted = [usage for usage in answers if usage is not None]
            total = sum(usage.input * price_in + usage.output * price_out for usage in counted)
            return min(most, -(-total // MILLION))


def is_payable(metered: Metered | None) -> bool:
    """Whether no price of it is negative."""
    match metered:
        case None:
            return True
        case PerPage(micro_usd):
            return micro_usd >= 0
        case PerToken(input=price_in, output=price_out):
            return min(price_in, price_out) >= 0
