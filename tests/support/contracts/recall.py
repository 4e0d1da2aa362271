"""Measure an analysis against what is known of a contract: recall by field, and quotes that are not where they say.

Takes plain mappings, so that the same measure judges the brain alone and a deployed stack's result.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from io import BytesIO
from typing import Any

from pypdf import PdfReader

from tests.support.contracts.expected import Expected

FIELDS = ("parties", "dates", "amounts", "obligations", "risks")


@dataclass(frozen=True, slots=True)
class Recall:
    """How many of a field's known facts were found, and which were not."""

    found: int
    expected: int
    missed: tuple[str, ...]

    @property
    def share(self) -> float:
        """Found of expected; nothing expected is nothing missed."""
        return self.found / self.expected if self.expected else 1.0

    def __add__(self, other: "Recall") -> "Recall":
        return Recall(self.found + other.found, self.expected + other.expected, self.missed + other.missed)


def read_pages(pdf: bytes) -> list[str]:
    """Return each page's text as pypdf gives it, line breaks included."""
    return [page.extract_text() for page in PdfReader(BytesIO(pdf)).pages]


def normalise(text: str) -> str:
    """Make each run of white space one space: the form in which quotes are compared."""
    return " ".join(text.split())


def measure_recall(analysis: Mapping[str, Any], expected: Expected) -> dict[str, Recall]:
    """Return recall by field. Names and roles are compared without case; sums by value and currency."""
    parties = {(_plain(item["name"]), _plain(item["role"])) for item in analysis["parties"]}
    dates = {item["date"][:10] for item in analysis["dates"]}
    amounts = {(_decimal(item["amount"]), item["currency"]) for item in analysis["amounts"]}
    return {
        "title": _recall([expected.title], lambda title: _plain(title) == _plain(analysis["title"])),
        "language": _recall([expected.language], lambda language: bool(language == analysis["language"])),
        "parties": _recall(expected.parties, lambda party: (_plain(party[0]), _plain(party[1])) in parties),
        "dates": _recall(expected.dates, lambda day: day.isoformat() in dates),
        "amounts": _recall(expected.amounts, lambda money: money in amounts),
        "obligations": _recall(expected.obligations, lambda duty: _has_duty(analysis["obligations"], *duty)),
        "risks": _recall(expected.risks, lambda phrase: _has_phrase(analysis["risks"], phrase)),
    }


def misquoted(analysis: Mapping[str, Any], pages: Sequence[str]) -> list[str]:
    """Return what refers to a page that does not hold its quote; empty is right."""
    normal = [normalise(page) for page in pages]
    wrong = []
    for field in FIELDS:
        for item in analysis[field]:
            page, quote = item["reference"]["page"], item["reference"]["quote"]
            if not (1 <= page <= len(normal) and quote and normalise(quote) in normal[page - 1]):
                wrong.append(f"{field}: page {page}: {quote!r}")
    return wrong


def _recall[T](known: Iterable[T], is_found: Callable[[T], bool]) -> Recall:
    facts = list(known)
    missed = tuple(str(fact) for fact in facts if not is_found(fact))
    return Recall(len(facts) - len(missed), len(facts), missed)


def _plain(text: str) -> str:
    return normalise(text).casefold().strip(" .,")


def _decimal(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _has_duty(items: Iterable[Mapping[str, Any]], who: tuple[str, ...], phrase: str) -> bool:
    names = {_plain(name) for name in who}
    bound = [item for item in items if any(name in _plain(item["who"]) for name in names)]
    return _has_phrase(bound, phrase)


def _has_phrase(items: Iterable[Mapping[str, Any]], phrase: str) -> bool:
    wanted = _plain(phrase)
    return any(wanted in _plain(item["what"]) or wanted in _plain(item["reference"]["quote"]) for item in items)
