"""Fuzz one parser by what it executes (atheris), for so many seconds: ``python -m tests.fuzz.guided html 20 folder``.

Ends with 0 if every input was answered as agreed and in time. An exception, a hang or a flood of memory ends the
process otherwise, and leaves the input in the folder. The parsers are those that take strangers' bytes: request bodies,
messages, documents.
"""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["onceward", "pypdf", "mammoth", "html", "zipfile"]):
    from onceward.errors import RequestError
    from onceward.wire.canonical import canonical_bytes
    from onceward.wire.ijson import read_json
    from onceward.wire.messages import parse_message
    from tests.fuzz.documents import DOCUMENTS
    from tests.fuzz.mutated_documents import judge

SLOWEST = 20  # seconds for one input
MOST_MEMORY = 2048  # megabytes; instrumented code takes more than the child's limit lets it
LONGEST = 65536  # bytes of one input
BODIES = (b'{"kind": "text.generate", "input": {"prompt": "x", "n": [1.5e-7, -0.0, true, null]}}', b'"\\ud83d\\ude00"')
MESSAGES = (b'{"schema_version": 1, "tenant_id": "acme", "job_id": "ABCDEFGHIJKLMNOPQRSTUVWXYZ-ABCDEFGH"}',)


def body(content: bytes) -> None:
    """Whatever is read has canonical bytes, however it is read again; anything else is refused by name."""
    try:
        value = read_json(content)
    except RequestError:
        return
    assert canonical_bytes(value) == canonical_bytes(read_json(content))


def message(content: bytes) -> None:
    """Any text is answered."""
    parse_message(content.decode("utf-8", "replace"))


def document(kind: str) -> Callable[[bytes], None]:
    """Text or a reason, as the child answers."""
    return lambda content: judge(kind, content, Counter())


KINDS = {kind for kind, _ in DOCUMENTS.values()}
TARGETS: Mapping[str, tuple[Callable[[bytes], None], tuple[bytes, ...]]] = {
    "body": (body, BODIES),
    "message": (message, MESSAGES),
    **{
        kind.rpartition("/")[2]: (document(kind), tuple(content for of, content in DOCUMENTS.values() if of == kind))
        for kind in sorted(KINDS)
    },
}


def main(name: str, seconds: int, folder: Path) -> None:
    """Fuzz until the time is over; never returns."""
    logging.disable(logging.CRITICAL)
    target, seeds = TARGETS[name]
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds):
        (corpus / f"seed-{number}").write_bytes(seed)
    limits = [f"-timeout={SLOWEST}", f"-rss_limit_mb={MOST_MEMORY}", f"-max_len={LONGEST}"]
    atheris.Setup(["guided", f"-max_total_time={seconds}", *limits, f"-artifact_prefix={folder}/", str(corpus)], target)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
