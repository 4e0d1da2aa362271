"""What the extraction child finds: a document's text in parts, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from onceward.kinds.extraction_limits import MAX_CHARACTERS, MAX_PARAGRAPHS

type Unit = Literal["page", "paragraph"]


class Unextractable(Exception):
    """The document has no text for us; the code says why, in words that reach the user."""

    def __init__(self, code: str) -> None:
        """``code`` is one of ``REASONS`` in ``extract_document``."""
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Extracted:
    """A document's text: what its parts are, and each part, the first one first. Numbers count from 1."""

    unit: Unit
    parts: list[str]


def within_limits(texts: Iterable[str]) -> list[str]:
    """Storable texts, counted before they are kept; raises ``Unextractable``."""
    kept: list[str] = []
    room = MAX_CHARACTERS
    for text in texts:
        shown = storable(text)
        room -= len(shown)
        if room < 0:
            raise Unextractable("document_too_long")
        kept.append(shown)
    return kept


def paragraphs_of(texts: Iterable[str]) -> Extracted:
    """A document without pages; what is blank is no paragraph. Raises ``Unextractable``."""
    kept: list[str] = []
    for text in within_limits(texts):
        if text:
            kept.append(text)
        if len(kept) > MAX_PARAGRAPHS:
            raise Unextractable("document_too_long")
    return Extracted("paragraph", kept)


def has_words(extracted: Extracted) -> bool:
    """Whether there is anything to read."""
    return any(character.isalnum() for part in extracted.parts for character in part)


def storable(text: str) -> str:
    """Text that every store and every model takes: no NUL, no control characters, no half of a surrogate pair.

    A control character that parts words still parts them; a byte order mark is no part of the text.
    """
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return "".join(_shown(character) for character in whole).strip()


def _shown(character: str) -> str:
    """The character itself, a blank, or nothing."""
    if character == "\ufeff":
        return ""
    if character >= " " or character in "\n\t":
        return character
    return " " if character.isspace() else ""
