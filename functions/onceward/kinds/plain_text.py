"""Paragraphs of plain text and Markdown: blocks between blank lines. Runs in the extraction child only."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onceward.kinds.extracted import Extracted, Unextractable, has_words, paragraphs_of
from onceward.kinds.extraction_limits import LONG_PARAGRAPH
from onceward.kinds.text_encoding import decode

_BLANK_LINES = re.compile(r"\n[ \t]*\n[ \t\n]*|\f+")


def read_text(content: bytes, charset: str | None) -> Extracted:
    """Every block of lines; raises ``Unextractable``. Markdown stays as it is written: models read it well."""
    text = decode(content, charset).replace("\r\n", "\n").replace("\r", "\n")
    extracted = paragraphs_of(piece for block in _BLANK_LINES.split(text) for piece in pieces_of(block))
    if not has_words(extracted):
        raise Unextractable("no_text")
    return extracted


def pieces_of(block: str) -> Iterator[str]:
    """A block, parted at its lines where it is long: a reference to it should still find a place."""
    if len(block) <= LONG_PARAGRAPH:
        yield block
        return
    piece = ""
    for line in block.splitlines():
        if piece and len(piece) + len(line) >= LONG_PARAGRAPH:
            yield piece
            piece = ""
        piece = f"{piece}\n{line}" if piece else line
    yield piece
