"""No broken document crashes, hangs or bloats the extraction, or ends it with a reason that nobody knows."""

from __future__ import annotations

import asyncio
import json
import os
from datetime import timedelta
from pathlib import Path

from onceward.adapters.child import run_child
from onceward.kinds.extract_document import REASONS
from onceward.kinds.extraction_limits import MEMORY_BYTES
from tests.fuzz.runs import FILES, short_and_long

MOST_SECONDS = 0.25  # for a file, on a busy machine; a start is among them


@short_and_long
def test_broken_documents_end_with_a_reason_or_are_read(tmp_path: Path, times: int) -> None:
    """Under the child's own limits of memory, files and processes; hundreds of wounds to every format."""
    wish = {"files": times * FILES, "seed": int.from_bytes(os.urandom(4)), "folder": str(tmp_path)}
    timeout = timedelta(seconds=times * FILES * MOST_SECONDS)
    end = asyncio.run(
        run_child("tests.fuzz.mutated_documents", json.dumps(wish).encode(), timeout=timeout, memory_bytes=MEMORY_BYTES)
    )

    assert (end.code, end.is_timed_out) == (0, False), wish
    told = json.loads(end.stdout)
    assert "failure" not in told, f"{wish}\n{told['failure']}"
    assert set(told["seen"]) <= {"read", *REASONS}
    assert told["seen"]["read"] > 10
    assert told["seen"]["unreadable"] > 10
    print(f"broken documents: {told['seen']}")
