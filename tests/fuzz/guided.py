"""Fuzz parsers by what they execute (atheris): ``python -m tests.fuzz.guided 20 folder html``, 20 times a short fuzz.

Without names, all of them: those that take strangers' bytes (request bodies, messages, documents). Each is fuzzed in a
child of its own, since to instrument the code takes longer than a short fuzz of it: it is done once, and not to what
holds no decision of a reader (tables of glyphs, what writes). An exception, a hang or a flood of
memory ends the child otherwise than with 0, and leaves the input in the folder of its parser's name. Ends with 0 if
every input was answered as agreed and in time.
"""

from __future__ import annotations

import logging
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import atheris

PARSERS = ["onceward", "pypdf", "mammoth", "html", "zipfile"]
TABLES = ["pypdf._codecs.adobe_glyphs", "pypdf._codecs.core_font_metrics", "pypdf._writer", "html.entities"]

with atheris.instrument_imports(include=PARSERS, exclude=TABLES):
    from onceward.errors import RequestError
    from onceward.kinds.extract_child import reader_for
    from onceward.wire.canonical import canonical_bytes
    from onceward.wire.ijson import read_json
    from onceward.wire.messages import parse_message
    from tests.fuzz.documents import DOCUMENTS
    from tests.fuzz.mutated_documents import judge
    from tests.fuzz.runs import GUIDED

    KINDS = {kind for kind, _ in DOCUMENTS.values()}
    for kind in KINDS:
        reader_for(kind)  # imports what reads it, here, so that this is instrumented too

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


TARGETS: Mapping[str, tuple[Callable[[bytes], None], tuple[bytes, ...]]] = {
    "body": (body, BODIES),
    "message": (message, MESSAGES),
    **{
        kind: (document(kind), tuple(content for of, content in DOCUMENTS.values() if of == kind))
        for kind in sorted(KINDS)
    },
}


def fuzz(name: str, times: int, folder: Path) -> None:
    """Fuzz so many times the target's runs; never returns."""
    target, seeds = TARGETS[name]
    corpus = folder / "corpus"
    corpus.mkdir(parents=True)
    for number, seed in enumerate(seeds):
        (corpus / f"seed-{number}").write_bytes(seed)
    limits = [f"-timeout={SLOWEST}", f"-rss_limit_mb={MOST_MEMORY}", f"-max_len={LONGEST}"]
    atheris.Setup(
        ["guided", f"-runs={times * GUIDED[name]}", *limits, f"-artifact_prefix={folder}/", str(corpus)], target
    )
    atheris.Fuzz()


def main(times: int, folder: Path, names: Iterable[str]) -> int:
    """Fuzz one after another, and say how each ended."""
    logging.disable(logging.CRITICAL)
    failed = 0
    for name in names:
        child = os.fork()
        if not child:
            fuzz(name, times, folder / name)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(f"{name}: {code}", flush=True)
        failed += code != 0
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:] or TARGETS))
