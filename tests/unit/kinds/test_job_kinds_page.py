"""The page on writing a job kind is true: its code runs, its tables are the policy's fields."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import onceward
from onceward.domain.policy import KindPolicy, RetryPolicy
from onceward.kinds.extract_document import FORMATS, REASONS
from onceward.kinds.extraction_limits import (
    MAX_BYTES,
    MAX_CHARACTERS,
    MAX_PAGES,
    MAX_PARAGRAPHS,
    MAX_PARTS,
    MAX_UNPACKED,
    MEMORY_BYTES,
)
from onceward.wire.requests import MAX_DOCUMENT_BYTES

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "job-kinds.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_every_snippet_runs(tmp_path: Path) -> None:
    """The kind registers, and its test passes; in a process of its own, since it registers for good."""
    kind, *others = SNIPPETS
    (tmp_path / "ticket_sort.py").write_text(kind, encoding="utf-8")
    begin = f"import onceward.kinds\nonceward.kinds.__path__.append({str(tmp_path)!r})\n"
    calls = "".join(f"\n{name}()" for name in re.findall(r"^def (test_\w+)", "".join(SNIPPETS), re.MULTILINE))
    told = "\nfrom onceward.kinds.catalog import KINDS\nprint([kind.name for kind in KINDS])"
    program = begin + "\n".join(others) + calls + told
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, text=True)

    assert (ran.stdout, ran.stderr) == ("['ticket.sort']\n", "")
    assert calls


def test_the_tables_name_every_field_of_a_policy() -> None:
    """Neither a field is missing nor one made up."""
    named = re.findall(r"^\| `(\w+)` \|", PAGE.partition("## The policy")[2], re.MULTILINE)

    assert named == [field.name for policy in (KindPolicy, RetryPolicy) for field in fields(policy)]


def test_the_places_it_names_exist() -> None:
    """The folder and the file with the line."""
    package = Path(onceward.__file__).parent

    assert "`functions/onceward/kinds/`" in PAGE
    assert (package / "kinds" / "registered.py").is_file()


def test_what_can_be_uploaded_can_be_read() -> None:
    """One limit: a document that is let in is not refused for its size later."""
    assert MAX_BYTES == MAX_DOCUMENT_BYTES


def test_the_tables_name_every_format_and_every_reason() -> None:
    """What can be read, and each way in which it cannot."""
    documents = PAGE.partition("## Documents")[2].partition("## The policy")[0]
    rows = re.findall(r"^\| (`[^|]+) \|", documents, re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]

    assert set(named) == {*FORMATS, *REASONS}
    for limit in (MAX_PAGES, MAX_CHARACTERS, MAX_PARAGRAPHS, MAX_PARTS):
        assert f"{limit:,}" in documents
    for megabytes in (MAX_BYTES, MAX_UNPACKED, MEMORY_BYTES):
        assert f"{megabytes // 2**20} MB" in documents
