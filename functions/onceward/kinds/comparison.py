"""The shape of a comparison: what the model is asked for, and what the job gives.

The model names facts by their places in two confirmed analyses (``amounts/0``) and quotes nothing: each reference of
the result was checked against its document before, so a comparison cannot refer to what does not stand there.
"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict, field_validator

from onceward.kinds.analysis import MAX_ITEMS, DocumentAnalysis, PageReference, ParagraphReference, Summary, Text, Title
from onceward.kinds.answers import Fault, unusable
from onceward.kinds.references import FIELDS

type Facts = dict[str, tuple[str, PageReference | ParagraphReference]]


class _Part(BaseModel):
    """Closed and complete: what strict modes ask of a schema."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class NamedDifference(_Part):
    """One difference, as the model names it: the places of its facts, ``null`` where a document has none."""

    what: Text
    first: str | None
    second: str | None


class NamedComparison(_Part):
    """What the model is asked for."""

    summary: Summary
    differences: list[NamedDifference]

    @field_validator("differences")
    @classmethod
    def _bounded(cls, items: list[NamedDifference]) -> list[NamedDifference]:
        """Refuse a list beyond ``MAX_ITEMS``."""
        if len(items) > MAX_ITEMS:
            raise ValueError(f"must have at most {MAX_ITEMS} items")
        return items


class Difference(_Part):
    """One difference, with the places in the documents where it can be read."""

    what: Text
    first: PageReference | ParagraphReference | None
    second: PageReference | ParagraphReference | None


class Compared(_Part):
    """One of the two documents, as it was read."""

    title: Title
    pages: int | None
    paragraphs: int | None


class DocumentComparison(_Part):
    """What the job gives."""

    summary: Summary
    differences: list[Difference]
    first: Compared
    second: Compared


def facts_of(analysis: DocumentAnalysis) -> Facts:
    """Every fact of an analysis by its place: its words, and its confirmed reference."""
    return {place: (words, reference) for place, words, reference in _facts(analysis)}


def _facts(analysis: DocumentAnalysis) -> Iterator[tuple[str, str, PageReference | ParagraphReference]]:
    """The facts in their order."""
    for field in FIELDS:
        for index, item in enumerate(getattr(analysis, field)):
            told = item.model_dump(exclude={"reference"})
            yield f"{field}/{index}", ", ".join(str(part) for part in told.values()), item.reference


def resolve(named: NamedComparison, first: DocumentAnalysis, second: DocumentAnalysis) -> DocumentComparison:
    """The comparison with its references; raises ``Unusable`` for a difference of nothing, or of no such fact."""
    known = {"first": facts_of(first), "second": facts_of(second)}
    faults, found = list[Fault](), list[Difference]()
    for index, one in enumerate(named.differences):
        at = f"/differences/{index}"
        if one.first is None and one.second is None:
            faults.append(Fault("difference_of_nothing", at))
        for side, place in (("first", one.first), ("second", one.second)):
            if place is not None and place not in known[side]:
                faults.append(Fault("no_such_fact", f"{at}/{side}"))
        if not faults:
            found.append(
                Difference(
                    what=one.what,
                    first=None if one.first is None else known["first"][one.first][1],
                    second=None if one.second is None else known["second"][one.second][1],
                )
            )
    if faults:
        raise unusable(faults)
    return DocumentComparison(
        summary=named.summary, differences=found, first=_compared(first), second=_compared(second)
    )


def _compared(analysis: DocumentAnalysis) -> Compared:
    """What is told of one document."""
    return Compared(title=analysis.title, pages=analysis.pages, paragraphs=analysis.paragraphs)
