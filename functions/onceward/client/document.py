"""A document on its way to the bucket: its bytes, and what kind of file they are."""

from __future__ import annotations

import mimetypes
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

from onceward.errors import InvalidInput, TooLarge
from onceward.wire.requests import MAX_DOCUMENT_BYTES

ANY_TYPE = "application/octet-stream"
PDF_START = b"%PDF-"

type Source = str | PathLike[str] | bytes


class EmptyFile(InvalidInput):
    """There is nothing to upload: told before anything is sent."""


@dataclass(frozen=True, slots=True)
class Document:
    """One file, in memory: it is hashed first and sent after."""

    content: bytes = field(repr=False)
    content_type: str


def read_document(source: Source, content_type: str | None = None) -> Document:
    """Take bytes, or read a file; raises ``TooLarge`` and ``InvalidInput`` before it reads, and ``OSError``.

    An unnamed type is guessed by the file's name, then by its first bytes.
    """
    if isinstance(source, bytes):
        _check_size(len(source))
        return Document(source, content_type or _by_content(source))
    path = Path(source)
    _check_size(path.stat().st_size)
    content = path.read_bytes()
    return Document(content, content_type or mimetypes.guess_type(path.name)[0] or _by_content(content))


def _check_size(size: int) -> None:
    """Refuse what is too large to be worth reading, and what is nothing."""
    if size == 0:
        raise EmptyFile("the file is empty")
    if size > MAX_DOCUMENT_BYTES:
        raise TooLarge(f"a document has at most {MAX_DOCUMENT_BYTES} bytes, this one has {size}")


def _by_content(content: bytes) -> str:
    """The type by a file's first bytes."""
    return "application/pdf" if content.startswith(PDF_START) else ANY_TYPE
