"""What is known of a generated contract."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The facts that an analysis should find. A duty is (names its bearer goes by, words of it); a risk its words."""

    title: str
    language: str
    parties: tuple[tuple[str, str], ...]
    dates: tuple[date, ...]
    amounts: tuple[tuple[Decimal, str], ...]
    obligations: tuple[tuple[tuple[str, ...], str], ...] = ()
    risks: tuple[str, ...] = ()
