"""What is read of a DOCX: the words that stand there now, each in its paragraph; and why some are refused."""

from __future__ import annotations

import asyncio

import pytest

from onceward.errors import JobFailure
from onceward.kinds.extract_child import answer_for
from onceward.kinds.extract_document import REASONS, text_of
from onceward.kinds.extracted import Extracted
from onceward.kinds.extraction_limits import MAX_UNPACKED
from tests.support.documents import docxs
from tests.unit.kinds.fake_context import RealChildren, pdf

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
OLE = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(504)
ENOUGH_MEGABYTES = MAX_UNPACKED // 2**20 + 1


@pytest.mark.parametrize(
    ("content", "paragraphs"),
    [
        pytest.param(docxs.docx("One", "Two"), ["One", "Two"], id="paragraphs"),
        pytest.param(docxs.docx("Test", strict=True), ["Test"], id="DOC-20 Strict namespaces"),
        pytest.param(
            docxs.docx("Above", docxs.table([["Top left", "Top right"], ["Bottom left", "Bottom right"]]), "Below"),
            ["Above", "Top left\tTop right", "Bottom left\tBottom right", "Below"],
            id="DOC-21 cells apart, rows together",
        ),
        pytest.param(
            docxs.docx(docxs.paragraph("The fee is ", docxs.deleted("500"), docxs.inserted("700"), " euros.")),
            ["The fee is 700 euros."],
            id="tracked changes as if accepted",
        ),
        pytest.param(
            docxs.docx(docxs.paragraph("Before ", docxs.moved("it"), " after.")), ["Before it after."], id="moved once"
        ),
        pytest.param(
            docxs.docx(docxs.paragraph("Beside", docxs.box("In a box")), "Next"),
            ["Beside", "In a box", "Next"],
            id="a text box, once",
        ),
        pytest.param(
            docxs.docx(docxs.paragraph("Text", docxs.note_mark(1), " on."), "End", notes={1: "A note."}),
            ["Text on.", "End", "A note."],
            id="footnotes at the end",
        ),
        pytest.param(docxs.docx("", "One", " ", "Two"), ["One", "Two"], id="blank paragraphs are none"),
    ],
)
def test_what_stands_there_is_read(content: bytes, paragraphs: list[str]) -> None:
    """Numbered from 1, in the document's order."""
    assert answer_for("docx", None, content) == {"unit": "paragraph", "parts": paragraphs}


@pytest.mark.parametrize(
    ("content", "code"),
    [
        pytest.param(OLE, "unsupported_format", id="DOC-28 a .doc, or a password"),
        pytest.param(docxs.locked(docxs.docx("x")), "document_encrypted", id="DOC-31 bit 0"),
        pytest.param(docxs.bloated(ENOUGH_MEGABYTES), "unpacks_too_large", id="a bomb"),
        pytest.param(docxs.lying(docxs.docx("x" * 5000)), "unreadable", id="a size that lies"),
        pytest.param(docxs.zipped({"xl/workbook.xml": "<x/>"}), "unsupported_format", id="another archive"),
        pytest.param(
            docxs.zipped({"[Content_Types].xml": "", "_rels/.rels": "", "xl/workbook.xml": ""}),
            "unsupported_format",
            id="a spreadsheet",
        ),
        pytest.param(docxs.zipped({f"{number}": "" for number in range(4001)}), "unpacks_too_large", id="many parts"),
        pytest.param(docxs.docx("x")[:-40], "unreadable", id="cut"),
        pytest.param(b"PK\x03\x04", "unreadable", id="a header and nothing else"),
        pytest.param(b"", "unreadable", id="empty"),
        pytest.param(docxs.docx(""), "no_text", id="no text"),
        pytest.param(docxs.docx("- - -"), "no_text", id="marks and no words"),
        pytest.param(docxs.docx(*["word " * 100] * 810), "document_too_long", id="too long"),
        pytest.param(docxs.docx(*["w"] * 8001), "document_too_long", id="too many paragraphs"),
        pytest.param(docxs.docx("<w:p><w:r><w:t>x</w:t></w:p>"), "unreadable", id="broken markup"),
        pytest.param(docxs.docx("<w:sdt><w:sdtContent>" * 2000), "unreadable", id="nested without end"),
    ],
)
def test_what_cannot_be_read_has_its_reason(content: bytes, code: str) -> None:
    """Each is final and has a sentence for the user; nothing was unpacked of what is refused by its size."""
    assert answer_for("docx", None, content) == {"error": code}
    assert code in REASONS


def test_an_entity_that_explodes_ends_in_the_child() -> None:
    """A billion laughs: expat, the limits or the markup end it, with a final reason."""
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    body = f"<w:body>{docxs.paragraph('&e9;')}</w:body>"
    laughs = f'<!DOCTYPE d [<!ENTITY e0 "ha">{entities}]><w:document xmlns:w="{docxs.W}">{body}</w:document>'
    content = docxs.zipped({"[Content_Types].xml": "<x/>", "_rels/.rels": "<x/>", "word/document.xml": laughs})
    with pytest.raises(JobFailure) as caught:
        asyncio.run(text_of(RealChildren(), pdf(content, WORD)))

    assert caught.value.code in {"unreadable", "extraction_memory", "extraction_timeout"}


def test_a_real_child_reads_a_real_document() -> None:
    """The module, its limits and its output, together."""
    found = asyncio.run(text_of(RealChildren(), pdf(docxs.docx("First.", "Second."), WORD)))

    assert found == Extracted("paragraph", ["First.", "Second."])
