"""Get a document's text by way of a child: what a document may be, and what its failures are called.

Every code here is final for the job, costs nothing, and says something that the user can act on.
"""

from __future__ import annotations

import json
import re
import signal

from onceward.errors import InfrastructureError, JobFailure
from onceward.kinds.extracted import Extracted
from onceward.kinds.extraction_limits import (
    MAX_BYTES,
    MAX_CHARACTERS,
    MAX_PAGES,
    MAX_PARAGRAPHS,
    MAX_UNPACKED,
    MEMORY_BYTES,
    NOT_READY,
    TIMEOUT,
)
from onceward.usecases.context import Children, Document
from onceward.usecases.ports import ChildEnd

CHILD = "onceward.kinds.extract_child"
FORMATS = {
    "application/pdf": "pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/markdown": "text",
    "text/x-markdown": "text",
    "text/plain": "text",
}
REASONS = {
    "unsupported_format": "PDF, DOCX, HTML, Markdown and plain text can be read, each under its own content type",
    "unsupported_encoding": "the text's encoding cannot be told; upload it as UTF-8, or name its charset in its "
    "content_type, as in: text/plain; charset=windows-1251",
    "document_too_large": f"a document may have {MAX_BYTES // 2**20} MB",
    "document_encrypted": "the document needs a password",
    "no_pages": "the document has no pages",
    "no_text": "the document holds no text",
    "image_only": "the document holds pictures and no text; a scan has to be recognised first",
    "no_character_map": "the document's fonts do not say which letters they draw; print it anew, or recognise it",
    "too_many_pages": f"a document may have {MAX_PAGES} pages",
    "document_too_long": f"a document may hold {MAX_CHARACTERS} characters and {MAX_PARAGRAPHS} paragraphs",
    "unpacks_too_large": f"the document unpacks to more than {MAX_UNPACKED // 2**20} MB",
    "unreadable": "the document is damaged, or not of the format that it was announced as",
    "extraction_timeout": f"reading the document took more than {TIMEOUT.total_seconds():.0f} s",
    "extraction_memory": f"reading the document took more than {MEMORY_BYTES // 2**20} MB of memory",
}
_CHARSET = re.compile(r";\s*charset\s*=\s*\"?([A-Za-z0-9_.:-]{2,40})\"?", re.IGNORECASE)


async def text_of(children: Children, document: Document) -> Extracted:
    """The document's text in its parts; raises ``JobFailure`` with one of ``REASONS``."""
    format_ = FORMATS.get(document.content_type.partition(";")[0].strip().lower())
    if format_ is None:
        raise _failure("unsupported_format")
    if len(document.content) > MAX_BYTES:
        raise _failure("document_too_large")
    named = _CHARSET.search(document.content_type)
    wish = json.dumps({"format": format_, "charset": None if named is None else named[1]})
    stdin = wish.encode() + b"\n" + document.content
    return _read(await children.run(CHILD, stdin, timeout=TIMEOUT, memory_bytes=MEMORY_BYTES))


def _read(end: ChildEnd) -> Extracted:
    """What the child said, or what its end says; its word is believed only in the agreed shape."""
    if end.is_timed_out:
        raise _failure("extraction_timeout")
    if end.code == -signal.SIGKILL:
        raise _failure("extraction_memory")
    if end.code == NOT_READY:  # the only end that no document can bring about; any other would be retried for ever
        raise InfrastructureError("the extraction child lacks a package", code="extraction_unavailable")
    said = _parsed(end.stdout) if end.code == 0 else {}
    unit, parts = said.get("unit"), said.get("parts")
    if isinstance(parts, list) and parts and all(isinstance(part, str) for part in parts):
        if unit == "page":
            return Extracted("page", parts)
        if unit == "paragraph":
            return Extracted("paragraph", parts)
    reason = said.get("error")
    raise _failure(reason if isinstance(reason, str) and reason in REASONS else "unreadable")


def _parsed(stdout: bytes) -> dict[str, object]:
    """The child's JSON object; anything else is as if it had said nothing."""
    try:
        said = json.loads(stdout)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _failure(code: str) -> JobFailure:
    """The final error with its sentence."""
    return JobFailure(REASONS[code], code=code)
