"""Text of an HTML page, block by block. Runs in the extraction child only.

The standard library's parser never raises for broken markup, and reads a page as one stream of events: what is nested
wrongly, or never closed, costs no memory and no recursion. Scripts and styles are no text; nothing is run or fetched.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

from onceward.kinds.extracted import Extracted, Unextractable, has_words, paragraphs_of
from onceward.kinds.plain_text import pieces_of
from onceward.kinds.text_encoding import decode

_BLOCKS = frozenset(
    {
        *("address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details"),
        *("dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html", "legend", "li", "main"),
        *("menu", "nav", "ol", "optgroup", "option", "p", "pre", "section", "select", "summary", "table"),
        *("tbody", "textarea", "tfoot", "thead", "title", "tr", "ul"),
    }
)
_CELLS = frozenset({"td", "th"})
_SILENT = frozenset({"script", "style", "template", "noscript", "noframes", "iframe", "object", "svg", "math"})
_META = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{2,40})", re.IGNORECASE)
_META_WITHIN = 1024  # bytes: where browsers look for it
_CELL_GAP = re.compile(r"[ \n]*\t[ \n]*")
_SPACE = re.compile(r"[ \t\r\n\f]+")


class _Blocks(HTMLParser):
    """Gathers the words of each block; a row of a table is one block, with a tab between its cells."""

    def __init__(self) -> None:
        """Character references come as characters."""
        super().__init__(convert_charrefs=True)
        self.blocks: list[str] = []
        self._words: list[str] = []
        self._silent = 0
        self._rows = 0
        self._verbatim = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - the base's
        """Begin a block, a cell or silence."""
        if tag in _SILENT:
            self._silent += 1
        elif tag in _CELLS:
            self._words.append("\t")
        elif tag == "br":
            self._words.append("\n")
        elif tag in _BLOCKS:
            self._part(tag)
        self._rows += tag == "tr"
        self._verbatim += tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        """End it; an end without a beginning ends nothing."""
        if tag in _SILENT:
            self._silent = max(self._silent - 1, 0)
        self._rows = max(self._rows - (tag in {"tr", "table"}), 0)
        self._verbatim = max(self._verbatim - (tag == "pre"), 0)
        if tag in _BLOCKS:
            self._part(tag)

    def handle_data(self, data: str) -> None:
        """Words, with the white space that a browser would show."""
        if not self._silent:
            self._words.append(data if self._verbatim else _SPACE.sub(" ", data))

    def close(self) -> None:
        """End the last block."""
        super().close()
        self._rows = 0
        self._part("html")

    def _part(self, tag: str) -> None:
        """A block inside a cell is a line of its row, and not a paragraph of its own."""
        if self._rows and tag != "tr":
            self._words.append("\n")
            return
        block = _CELL_GAP.sub("\t", "".join(self._words)).strip()
        self._words.clear()
        if block:
            self.blocks.append("\n".join(line for raw in block.splitlines() if (line := raw.strip(" "))))


def read_html(content: bytes, charset: str | None) -> Extracted:
    """Every block of the page; raises ``Unextractable``."""
    named = _META.search(content[:_META_WITHIN]) if charset is None else None
    page = _Blocks()
    page.feed(decode(content, charset if named is None else named[1].decode("ascii")))
    page.close()
    extracted = paragraphs_of(piece for block in page.blocks for piece in pieces_of(block))
    if not has_words(extracted):
        raise Unextractable("no_text")
    return extracted
