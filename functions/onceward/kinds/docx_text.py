"""Text of a DOCX, paragraph by paragraph. Runs in the extraction child only: the bytes may be made to harm.

mammoth reads Word's own and Strict files, keeps what tracked changes inserted and drops what they deleted, and finds
the text in boxes. A table's row is one paragraph with a tab between its cells, so that what stands together stays
together. Footnotes follow the text; headers, footers and comments are left out.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from typing import Any

import mammoth
from mammoth import documents

from onceward.kinds.extracted import Extracted, Unextractable, has_words, paragraphs_of
from onceward.kinds.extraction_limits import MAX_PARTS, MAX_UNPACKED

OLE = bytes.fromhex("d0cf11e0a1b11ae1")  # a .doc, or a DOCX under a password: both are refused alike
_ENCRYPTED = 0x1  # bit 0 of a ZIP entry's flags
_MARKS = {"[Content_Types].xml", "_rels/.rels"}  # what makes a ZIP an Office file


def read_docx(content: bytes, _charset: str | None = None) -> Extracted:
    """The text of every paragraph and row; raises ``Unextractable``, and whatever mammoth raises."""
    if content.startswith(OLE):
        raise Unextractable("unsupported_format")
    _check_archive(content)
    seen: list[Any] = []

    def keep(document: Any) -> Any:
        """Take the document as read, and leave nothing to convert."""
        seen.append(document)
        return documents.document([])

    mammoth.convert_to_html(io.BytesIO(content), transform_document=keep, include_embedded_style_map=False)
    extracted = paragraphs_of(_texts(seen[0]))
    if not has_words(extracted):
        raise Unextractable("no_text")
    return extracted


def _check_archive(content: bytes) -> None:
    """Refuse what is no readable Office archive before a byte of it is unpacked."""
    try:
        entries = zipfile.ZipFile(io.BytesIO(content)).infolist()
    except zipfile.BadZipFile:
        raise Unextractable("unreadable") from None
    if any(entry.flag_bits & _ENCRYPTED for entry in entries):
        raise Unextractable("document_encrypted")
    # A size that lies is no way round: reading stops at it, and the checksum then fails.
    if len(entries) > MAX_PARTS or sum(entry.file_size for entry in entries) > MAX_UNPACKED:
        raise Unextractable("unpacks_too_large")
    names = {entry.filename for entry in entries}
    if not names >= _MARKS or not any(name.startswith("word/") for name in names):
        raise Unextractable("unsupported_format")


def _texts(document: Any) -> Iterator[str]:
    """The body's paragraphs and rows in their order, then the notes that they refer to."""
    notes: list[Any] = []
    yield from _blocks(document, notes)
    while notes:
        yield from _blocks(document.notes.resolve(notes.pop(0)), notes)


def _blocks(element: Any, notes: list[Any]) -> Iterator[str]:
    """The texts of an element that holds paragraphs."""
    children: list[Any] = element.body if isinstance(element, documents.Note) else element.children
    for child in children:
        if isinstance(child, documents.Table):
            for row in child.children:
                yield "\t".join(_cell(cell, notes) for cell in row.children)
        else:
            yield _inline(child, notes)


def _cell(cell: Any, notes: list[Any]) -> str:
    """A cell's paragraphs, one under the other."""
    return "\n".join(text for text in _blocks(cell, notes) if text.strip())


def _inline(element: Any, notes: list[Any]) -> str:
    """The words of a paragraph and what is inside it."""
    match element:
        case documents.Text():
            return str(element.value)
        case documents.Tab():
            return "\t"
        case documents.Break():
            return "\n"
        case documents.NoteReference():
            notes.append(element)
            return ""
        case _:
            return "".join(_inline(child, notes) for child in getattr(element, "children", ()))
