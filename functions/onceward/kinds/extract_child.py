"""The extraction child: a format line and a document on standard input, JSON on standard output.

In: ``{"format": "docx", "charset": null}``, a line feed, the document's bytes. Out: ``{"unit": "page" | "paragraph",
"parts": [...]}`` or ``{"error": code}``. Whatever a document does ends here, and is final. What our bundle lacks shows
before the document's first byte is read, when its reader is imported: only then does this process end by ``NOT_READY``.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable
from dataclasses import asdict

from onceward.kinds.extracted import Extracted, Unextractable
from onceward.kinds.extraction_limits import NOT_READY

type Reader = Callable[[bytes, str | None], Extracted]


def answer_for(format_: str, charset: str | None, content: bytes) -> dict[str, object]:
    """What the parent is told about a document; nothing that reading it raises gets out, ``SystemExit`` included."""
    read = reader_for(format_)
    try:
        return asdict(read(content, charset))
    except Unextractable as reason:
        return {"error": reason.code}
    except MemoryError:
        return {"error": "extraction_memory"}
    except BaseException:  # noqa: BLE001 - a fuzzed file raises anything, and this process exists to take it
        return {"error": "unreadable"}


def reader_for(format_: str) -> Reader:
    """The format's reader; only what it needs is imported, the child's memory belongs to the document.

    Every package that reading can need is imported here or not at all.
    """
    match format_:
        case "pdf":
            from onceward.kinds.pdf_text import read_pdf  # noqa: PLC0415

            return read_pdf
        case "docx":
            from onceward.kinds.docx_text import read_docx  # noqa: PLC0415

            return read_docx
        case "html":
            from onceward.kinds.html_text import read_html  # noqa: PLC0415

            return read_html
        case _:
            from onceward.kinds.plain_text import read_text  # noqa: PLC0415

            return read_text


def main() -> None:
    """Get ready, read, extract, tell."""
    logging.disable(logging.CRITICAL)  # parsers' warnings quote the document
    wish = json.loads(sys.stdin.buffer.readline())
    try:
        reader_for(wish["format"])
    except Exception:  # noqa: BLE001 - a package that is missing, or of another build, fails in its own way
        sys.exit(NOT_READY)
    sys.stdout.write(json.dumps(answer_for(wish["format"], wish["charset"], sys.stdin.buffer.read())))


if __name__ == "__main__":
    main()
