"""The shape of a document's analysis: what the model is asked for, and what it must keep to be a result.

The schema that goes to the model holds names and types only: strict modes refuse lengths and patterns. The rules are
checked here, on the answer. A document with pages is referred to by page, any other by paragraph: two closed schemas,
so that no model can mix them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, field_validator

MAX_ITEMS = 200  # of one field; a longer list is a copy of the document, not an analysis
MIN_QUOTE = 2  # characters: a single one stands on every page
MAX_QUOTE = 600  # a sentence or two; longer is a page, and no reference
MAX_TEXT = 600  # of a name, a role, a description
MAX_SUMMARY = 5_000

_AMOUNT = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,6})?")
_CURRENCY = re.compile(r"[A-Z]{3}")
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def _within(least: int, most: int) -> Callable[[str], str]:
    """A rule: so many characters, outer white space not counted."""

    def check(value: str) -> str:
        stripped = value.strip()
        if not least <= len(stripped) <= most:
            raise ValueError(f"must have {least} to {most} characters")
        return stripped

    return check


def _shaped(pattern: re.Pattern[str], what: str) -> Callable[[str], str]:
    """A rule: the whole text has a shape."""

    def check(value: str) -> str:
        if pattern.fullmatch(value) is None:
            raise ValueError(f"must be {what}")
        return value

    return check


def _real_day(value: str) -> str:
    """Refuse the 31st of June."""
    date.fromisoformat(value)
    return value


Text = Annotated[str, AfterValidator(_within(1, MAX_TEXT))]
Title = Annotated[str, AfterValidator(_within(0, MAX_TEXT))]
Summary = Annotated[str, AfterValidator(_within(0, MAX_SUMMARY))]
Quote = Annotated[str, AfterValidator(_within(MIN_QUOTE, MAX_QUOTE))]
Day = Annotated[str, AfterValidator(_shaped(_DATE, "YYYY-MM-DD")), AfterValidator(_real_day)]
Amount = Annotated[str, AfterValidator(_shaped(_AMOUNT, "a decimal number as a string"))]
Currency = Annotated[str, AfterValidator(_shaped(_CURRENCY, "an ISO 4217 code"))]
Language = Annotated[str, AfterValidator(_shaped(_LANGUAGE, "an ISO 639 code"))]


class _Part(BaseModel):
    """Closed and complete: what strict modes ask of a schema."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class PageReference(_Part):
    """Where a fact stands: a page, counted from 1, and words that occur on it literally."""

    page: int
    quote: Quote

    @property
    def number(self) -> int:
        """The part of the document."""
        return self.page


class ParagraphReference(_Part):
    """Where a fact stands in a document without pages: a paragraph, counted from 1, and words that occur in it."""

    paragraph: int
    quote: Quote

    @property
    def number(self) -> int:
        """The part of the document."""
        return self.paragraph


type Reference = PageReference | ParagraphReference


class Party[R](_Part):
    """Somebody the document binds."""

    name: Text
    role: Text
    reference: R


class NotedDate[R](_Part):
    """A day, and what it is the day of."""

    date: Day
    what: Text
    reference: R


class NotedAmount[R](_Part):
    """A sum as a decimal string with its currency, and what it is for."""

    amount: Amount
    currency: Currency
    what: Text
    reference: R


class Obligation[R](_Part):
    """Who has to do what."""

    who: Text
    what: Text
    reference: R


class Risk[R](_Part):
    """A clause that may hurt, and how much."""

    what: Text
    severity: Literal["low", "medium", "high"]
    reference: R


class Analysis[R](_Part):
    """What the model is asked for."""

    title: Title
    language: Language
    summary: Summary
    parties: list[Party[R]]
    dates: list[NotedDate[R]]
    amounts: list[NotedAmount[R]]
    obligations: list[Obligation[R]]
    risks: list[Risk[R]]

    @field_validator("parties", "dates", "amounts", "obligations", "risks")
    @classmethod
    def _bounded[T](cls, items: list[T]) -> list[T]:
        """Refuse a list beyond ``MAX_ITEMS``."""
        if len(items) > MAX_ITEMS:
            raise ValueError(f"must have at most {MAX_ITEMS} items")
        return items


class PagedAnalysis(Analysis[PageReference]):
    """The analysis of a document with pages."""


class ParagraphAnalysis(Analysis[ParagraphReference]):
    """The analysis of a document without."""


class DocumentAnalysis(Analysis[PageReference | ParagraphReference]):
    """What the job gives: the analysis, each reference confirmed, and how many pages or paragraphs were read."""

    pages: int | None = None
    paragraphs: int | None = None
