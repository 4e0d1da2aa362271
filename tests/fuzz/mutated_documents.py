"""Break documents and have them read, so many of them, in a process limited as the extraction child is.

Run by ``test_documents.py`` through the real child runner: what would kill, hang or bloat an extraction does it here.
In: ``{"files": 900, "seed": 1, "folder": "..."}`` on standard input. Out: what was answered, as JSON.
"""

from __future__ import annotations

import json
import logging
import random
import sys
import time
import traceback
from collections import Counter

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir

from onceward.kinds.extract_child import answer_for
from tests.fuzz.documents import DOCUMENTS, mutated

SLOWEST = 20.0  # seconds for one file; a third of what the child is given
BATCH = 60  # files of one seed


def judge(kind: str, content: bytes, seen: Counter[str]) -> None:
    """One file: an answer of the agreed shape, in time."""
    started = time.monotonic()
    answer = answer_for(kind, None, content)
    took = time.monotonic() - started
    assert took < SLOWEST, f"took {took:.0f} s"
    if "error" in answer:
        assert set(answer) == {"error"}
        seen[str(answer["error"])] += 1
        return
    assert set(answer) == {"unit", "parts"}
    parts = answer["parts"]
    assert isinstance(parts, list)
    assert parts
    for part in parts:
        assert isinstance(part, str)
        assert "\x00" not in part
        part.encode()  # whole characters only
    seen["read"] += 1


def main() -> None:
    """Break and read as many as are wished for; a failure is told with its example."""
    logging.disable(logging.CRITICAL)
    wish = json.load(sys.stdin)
    set_hypothesis_home_dir(wish["folder"])
    seen = Counter[str]()
    chance = random.Random(wish["seed"])

    @settings(max_examples=BATCH, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(sorted(DOCUMENTS)), st.data())
    def attack(name: str, data: st.DataObject) -> None:
        kind, content = DOCUMENTS[name]
        judge(kind, data.draw(mutated(content)), seen)

    try:
        while seen.total() < wish["files"]:
            seed(chance.getrandbits(32))(attack)()
    except Exception:  # noqa: BLE001 - whatever it is, it is told
        print(json.dumps({"failure": traceback.format_exc()[-4000:], "seen": seen}))
        return
    print(json.dumps({"seen": seen}))


if __name__ == "__main__":
    main()
