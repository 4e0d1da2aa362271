"""Assemble the answer of `document.analyze`: every fact with a quote that occurs literally on its page."""

import json
from itertools import islice
from typing import Any, Literal, TypedDict

from onceward.local.model.brain.calendar import find_dates
from onceward.local.model.brain.language import detect_language
from onceward.local.model.brain.money import find_sums
from onceward.local.model.brain.obligations import find_obligations
from onceward.local.model.brain.pages import Document, clip_around, read_document
from onceward.local.model.brain.parties import FoundParty, find_parties
from onceward.local.model.brain.risks import find_risks
from onceward.local.model.brain.summary import find_title, summarise

MAX_ITEMS = 100  # of one field: an answer stays a few hundred kilobytes at worst
_MAX_WHAT = 160
_MAX_SUMMARY = 1_600


class ReferenceItem(TypedDict):
    """Where a fact stands."""

    page: int
    quote: str


class PartyItem(TypedDict):
    """A party and its role."""

    name: str
    role: str
    reference: ReferenceItem


class DateItem(TypedDict):
    """A day, ISO 8601, and what it is the day of."""

    date: str
    what: str
    reference: ReferenceItem


class AmountItem(TypedDict):
    """A sum as a decimal string with its ISO 4217 code, and what it is for."""

    amount: str
    currency: str
    what: str
    reference: ReferenceItem


class ObligationItem(TypedDict):
    """Who is bound to what."""

    who: str
    what: str
    reference: ReferenceItem


class RiskItem(TypedDict):
    """A risky clause and its severity: low, medium or high."""

    what: str
    severity: str
    reference: ReferenceItem


class Analysis(TypedDict):
    """The whole answer; its keys are the contract with the kind `document.analyze`."""

    title: str
    language: str
    summary: str
    parties: list[PartyItem]
    dates: list[DateItem]
    amounts: list[AmountItem]
    obligations: list[ObligationItem]
    risks: list[RiskItem]


type ListField = Literal["parties", "dates", "amounts", "obligations", "risks"]
LISTS: tuple[ListField, ...] = ("parties", "dates", "amounts", "obligations", "risks")


def analyse(pages: list[tuple[int, str]]) -> Analysis:
    """Extract everything from (page number, raw text) pairs."""
    document = read_document(pages)
    parties = find_parties(document)
    return Analysis(
        title=find_title(document),
        language=detect_language(document.text),
        summary=summarise(document)[:_MAX_SUMMARY],
        parties=[_party_item(document, party) for party in parties],
        dates=_date_items(document),
        amounts=_amount_items(document),
        obligations=[
            ObligationItem(who=duty.who, what=duty.what, reference=_reference(document, duty.start, duty.end))
            for duty in islice(find_obligations(document, parties), MAX_ITEMS)
        ],
        risks=[
            RiskItem(what=risk.what, severity=risk.severity.value, reference=_reference(document, risk.start, risk.end))
            for risk in islice(find_risks(document), MAX_ITEMS)
        ],
    )


def fit(analysis: Analysis, characters: int) -> Analysis:
    """Shorten the longest lists until the answer's JSON keeps within a limit, as a model asked to be brief would.

    A limit that not even empty lists keep is left broken: the answer is then cut, and says so.
    """
    lists: tuple[list[Any], ...] = tuple(analysis[field] for field in LISTS)
    while len(dump(analysis)) > characters and any(lists):
        longest = max(lists, key=lambda items: len(json.dumps(items, ensure_ascii=False)))
        del longest[len(longest) * 3 // 4 :]
    return analysis


def by_paragraph(analysis: Analysis) -> dict[str, Any]:
    """Name paragraphs where the analysis names pages: its document has none."""
    named: dict[str, Any] = dict(analysis)
    for field in LISTS:
        named[field] = [
            {**item, "reference": {"paragraph": item["reference"]["page"], "quote": item["reference"]["quote"]}}
            for item in analysis[field]
        ]
    return named


def dump(analysis: Analysis | dict[str, Any]) -> str:
    """Return the answer's JSON."""
    return json.dumps(analysis, ensure_ascii=False)


def _party_item(document: Document, party: FoundParty) -> PartyItem:
    return PartyItem(name=party.name, role=party.role, reference=_reference(document, party.start, party.end))


def _date_items(document: Document) -> list[DateItem]:
    items: dict[tuple[str, int], DateItem] = {}
    for found in find_dates(document.text):
        sentence = document.sentence_at(found.start).start
        iso = found.value.isoformat()
        if (iso, sentence) not in items and len(items) < MAX_ITEMS:
            what = _what(document, found.start, found.end)
            items[iso, sentence] = DateItem(date=iso, what=what, reference=_reference(document, found.start, found.end))
    return list(items.values())


def _amount_items(document: Document) -> list[AmountItem]:
    items: dict[tuple[str, str, int], AmountItem] = {}
    for found in find_sums(document.text):
        amount = f"{found.amount:f}"
        key = (amount, found.currency, document.sentence_at(found.start).start)
        if key not in items and len(items) < MAX_ITEMS:
            what = _what(document, found.start, found.end)
            reference = _reference(document, found.start, found.end)
            items[key] = AmountItem(amount=amount, currency=found.currency, what=what, reference=reference)
    return list(items.values())


def _what(document: Document, start: int, end: int) -> str:
    """Say what a date or a sum is by the words of its sentence around it."""
    sentence = document.sentence_at(start)
    text = document.text[sentence.start : sentence.end]
    return clip_around(text, start - sentence.start, min(end, sentence.end) - sentence.start, _MAX_WHAT)


def _reference(document: Document, start: int, end: int) -> ReferenceItem:
    reference = document.reference(start, end)
    return ReferenceItem(page=reference.page, quote=reference.quote)
