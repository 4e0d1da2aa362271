"""How much of an untrusted document is read. Standard library only: the extraction child imports it."""

from __future__ import annotations

from datetime import timedelta

MAX_BYTES = 10 * 1024 * 1024  # what an upload form lets in; held twice, here and in the child, in a worker of 512 MB
MAX_PAGES = 2_000  # 2 s of work for plain pages; a longer book is several documents
MAX_PARAGRAPHS = 8_000  # a book's; each costs a dozen tokens for its number alone
MAX_CHARACTERS = 400_000  # of the whole text, about 100,000 tokens: what the common models can read at once
LONG_PARAGRAPH = 2_000  # characters: a longer block is parted at its lines, so that a reference finds its place
MAX_UNPACKED = 100 * 1024 * 1024  # bytes of all parts of a ZIP together; an honest DOCX of 10 MB holds pictures
MAX_PARTS = 4_000  # of a ZIP; Word writes a dozen and one for each picture
TIMEOUT = timedelta(seconds=60)  # a tenth of the attempt; a file that needs more is built to need more
NOT_READY = 69  # the child's exit code (EX_UNAVAILABLE) when a package is missing; Python's own for a crash is 1
MEMORY_BYTES = 384 * 1024 * 1024  # of address space: Python and pypdf take 90 MB, a large page's stream the rest
