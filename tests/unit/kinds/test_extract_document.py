"""How a child's end becomes text or a final reason, and which documents never get that far."""

from __future__ import annotations

import asyncio
import json
import signal

import pytest

from onceward.errors import InfrastructureError, JobFailure
from onceward.kinds.extract_document import FORMATS, REASONS, text_of
from onceward.kinds.extracted import Extracted
from onceward.kinds.extraction_limits import MAX_BYTES, NOT_READY
from onceward.usecases.context import Document
from onceward.usecases.ports import ChildEnd
from onceward.wire.requests import CreateUpload
from tests.unit.kinds.fake_context import FakeChildren, RealChildren, pdf

PAGES = {"unit": "page", "parts": ["one", "", "three"]}


def ended(code: int = 0, said: object = None, *, timed_out: bool = False) -> FakeChildren:
    """A child that ended so."""
    raw = said if isinstance(said, bytes) else json.dumps(said).encode()
    return FakeChildren(ChildEnd(code, raw, timed_out))


def reason(children: FakeChildren, document: Document | None = None) -> str:
    """The code of the final error."""
    with pytest.raises(JobFailure) as caught:
        asyncio.run(text_of(children, document or pdf(b"%PDF-")))
    assert caught.value.detail == REASONS[caught.value.code]
    return caught.value.code


def test_pages_come_in_their_order() -> None:
    """An empty page keeps its number."""
    children = ended(said=PAGES)

    assert asyncio.run(text_of(children, pdf(b"%PDF-"))) == Extracted("page", ["one", "", "three"])


@pytest.mark.parametrize("content_type", ["application/PDF", "application/pdf; version=1.7"])
def test_a_content_type_is_read_as_http_reads_it(content_type: str) -> None:
    """Case and parameters do not matter."""
    assert asyncio.run(text_of(ended(said=PAGES), pdf(b"%PDF-", content_type))).unit == "page"


@pytest.mark.parametrize(
    "content_type", ["", "text/rtf", "application/pdfx", "application/msword", "application/octet-stream"]
)
def test_another_format_is_refused_without_a_child(content_type: str) -> None:
    """Nothing is parsed that is not announced as one of the formats."""
    children = ended()

    assert reason(children, pdf(b"%PDF-", content_type)) == "unsupported_format"
    assert children.runs == 0


def test_a_document_that_is_too_large_is_refused_without_a_child() -> None:
    """It would not fit twice."""
    children = ended(said=PAGES)

    assert reason(children, pdf(bytes(MAX_BYTES + 1))) == "document_too_large"
    assert children.runs == 0


@pytest.mark.parametrize(
    ("children", "code"),
    [
        (ended(-signal.SIGKILL, b"", timed_out=True), "extraction_timeout"),
        (ended(0, PAGES, timed_out=True), "extraction_timeout"),
        (ended(-signal.SIGKILL, b""), "extraction_memory"),
        (ended(-signal.SIGSEGV, b""), "unreadable"),
        (ended(1, b""), "unreadable"),
        (ended(120, b""), "unreadable"),
        (ended(-signal.SIGXFSZ, b'{"pages": ["x'), "unreadable"),
        (ended(0, {"error": "no_text"}), "no_text"),
        (ended(0, {"error": "made_up"}), "unreadable"),
        (ended(0, {"error": ["no_text"]}), "unreadable"),
        (ended(0, {"unit": "page", "parts": []}), "unreadable"),
        (ended(0, {"unit": "page", "parts": ["x", 5]}), "unreadable"),
        (ended(0, {"unit": "chapter", "parts": ["x"]}), "unreadable"),
        (ended(0, ["parts"]), "unreadable"),
        (ended(0, b"\xff"), "unreadable"),
        (ended(0, b"[" * 100_000), "unreadable"),
    ],
)
def test_however_a_child_ends_there_is_a_final_reason(children: FakeChildren, code: str) -> None:
    """Its word counts only in the agreed shape: a child that was taken over can say anything."""
    assert reason(children) == code


def test_a_child_that_could_not_run_is_infrastructure() -> None:
    """A broken bundle gives the attempt back; it fails nobody's job."""
    with pytest.raises(InfrastructureError) as caught:
        asyncio.run(text_of(ended(NOT_READY, b""), pdf(b"%PDF-")))

    assert caught.value.code == "extraction_unavailable"


@pytest.mark.parametrize(
    ("content_type", "wish"),
    [
        ("application/pdf", {"format": "pdf", "charset": None}),
        ("text/plain; charset=Windows-1251", {"format": "text", "charset": "Windows-1251"}),
        ('text/html;charset="utf-8"', {"format": "html", "charset": "utf-8"}),
        ("text/markdown; charset=a b", {"format": "text", "charset": None}),
    ],
)
def test_the_child_is_told_the_format_and_the_declared_charset(content_type: str, wish: dict[str, object]) -> None:
    """On the line before the bytes."""
    children = ended(said=PAGES)
    asyncio.run(text_of(children, pdf(b"\nbytes", content_type)))
    line, _, content = children.stdin.partition(b"\n")

    assert (json.loads(line), content) == (wish, b"\nbytes")


def test_the_advice_about_encodings_can_be_followed() -> None:
    """What the reason tells the user to send is a request that the API takes, and then the text is read."""
    content_type = REASONS["unsupported_encoding"].rpartition("as in: ")[2]
    content = "Договор".encode("cp1251")
    asked = CreateUpload(content_type=content_type, size=len(content), sha256="a" * 64)

    with pytest.raises(JobFailure, match="encoding"):
        asyncio.run(text_of(RealChildren(), pdf(content, "text/plain")))
    assert asyncio.run(text_of(RealChildren(), pdf(content, asked.content_type))).parts == ["Договор"]


def test_every_format_is_named_in_the_reason_for_another() -> None:
    """The user learns what can be read."""
    assert set(FORMATS.values()) == {"pdf", "docx", "html", "text"}
    assert all(word in REASONS["unsupported_format"] for word in ("PDF", "DOCX", "HTML", "Markdown", "plain text"))
