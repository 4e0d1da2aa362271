"""Text of a PDF, page by page. Runs in the extraction child only: the bytes may be made to harm.

pypdf answers a broken file with exceptions of any class; what is not recognised here is ``unreadable``, and telling
that is the child's, which dies with the document. A stream packed in a way that pypdf has to ask another program for
(``/BrotliDecode``, ``/JBIG2Decode``) is among that: which one it names is the document's choice, not a fault of ours.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import cryptography.hazmat.primitives.ciphers.algorithms  # noqa: F401 - pypdf does without, until a document needs it
from pypdf import PageObject, PdfReader
from pypdf.errors import FileNotDecryptedError, WrongPasswordError

from onceward.kinds.extracted import Extracted, Unextractable, has_words, within_limits
from onceward.kinds.extraction_limits import MAX_PAGES

_HEADER = b"%PDF-"
_HEADER_WITHIN = 1024  # readers accept junk before the header up to here
_BARE_CODES = ("/Identity-H", "/Identity-V")  # glyph numbers: without a map nobody but the font knows the letters
_MOST_UNMAPPED = 0.1  # of the characters; a bullet or a logo may be drawn by such a font, a text may not


@dataclass(slots=True)
class _Letters:
    """How many characters a document drew, and how many of them nobody can name."""

    drawn: int = 0
    unmapped: int = 0

    def visit(
        self, text: str, _matrix: object, _text_matrix: object, font: Mapping[str, object] | None, _size: object
    ) -> None:
        """Count a piece of text as pypdf tells of it."""
        letters = sum(not character.isspace() for character in text)
        self.drawn += letters
        if font is not None and "/ToUnicode" not in font and font.get("/Encoding") in _BARE_CODES:
            self.unmapped += letters

    @property
    def are_unreadable(self) -> bool:
        """Whether what was drawn is glyph numbers in the main."""
        return self.unmapped > self.drawn * _MOST_UNMAPPED


def read_pdf(content: bytes, _charset: str | None = None) -> Extracted:
    """The text of every page, empty for a page without; raises ``Unextractable``, and whatever pypdf raises."""
    if _HEADER not in content[:_HEADER_WITHIN]:
        raise Unextractable("unreadable")
    letters = _Letters()
    try:
        # A file that opens without a password, as in every viewer, opens here: pypdf tries the empty one by itself.
        reader = PdfReader(io.BytesIO(content), strict=False)
        extracted = Extracted("page", within_limits(_texts(reader, letters)))
        if letters.are_unreadable:
            raise Unextractable("no_character_map")
        if not has_words(extracted):
            raise Unextractable("image_only" if any(map(_has_picture, reader.pages)) else "no_text")
    except (FileNotDecryptedError, WrongPasswordError):
        raise Unextractable("document_encrypted") from None
    return extracted


def _texts(reader: PdfReader, letters: _Letters) -> Iterator[str]:
    """Each page's text in reading order."""
    count = reader.get_num_pages()
    if count == 0:
        raise Unextractable("no_pages")
    if count > MAX_PAGES:
        raise Unextractable("too_many_pages")
    for number in range(count):
        yield reader.pages[number].extract_text(visitor_text=letters.visit)


def _has_picture(page: PageObject) -> bool:
    """Whether a page names an image; nothing is unpacked."""
    resources = page.get("/Resources")
    named = None if resources is None else resources.get_object().get("/XObject")
    if named is None:
        return False
    return any(one.get_object().get("/Subtype") == "/Image" for one in named.get_object().values())
