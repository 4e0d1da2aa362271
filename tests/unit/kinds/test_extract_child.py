"""What the extraction child makes of PDFs that were met in the wild, and how it starts and ends."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import pytest

from onceward.errors import JobFailure
from onceward.kinds import pdf_text
from onceward.kinds.extract_child import answer_for
from onceward.kinds.extract_document import REASONS, text_of
from onceward.kinds.extraction_limits import MAX_CHARACTERS, MAX_PAGES, NOT_READY
from tests.support.documents import pdfs
from tests.unit.kinds.fake_context import RealChildren, pdf

PAGE_TEXT = b"BT /F1 12 Tf 72 700 Td (Page text) Tj ET"


def pages(content: bytes) -> list[str]:
    """The pages that the child's code finds; run here, where it is quick."""
    found = answer_for("pdf", None, content)["parts"]
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize(
    ("content", "code"),
    [
        pytest.param(pdfs.encrypted("Secret.", "asdf"), "document_encrypted", id="DOC-01"),
        pytest.param(pdfs.plain([""]), "no_text", id="DOC-04"),
        pytest.param(pdfs.plain(["- - -", "..."]), "no_text", id="marks and no words"),
        pytest.param(pdfs.with_picture_only(), "image_only", id="a scan"),
        pytest.param(pdfs.without_character_map("Whole words"), "no_character_map", id="glyph numbers"),
        pytest.param(pdfs.without_pages(), "no_pages", id="DOC-06"),
        pytest.param(b"oops\n", "unreadable", id="DOC-07"),
        pytest.param(b"%PDF-", "unreadable", id="a header and nothing else"),
        pytest.param(b"", "unreadable", id="empty"),
        pytest.param(pdfs.plain(["Whole."])[:-400], "unreadable", id="cut"),
        pytest.param(pdfs.with_removed_filter(), "unreadable", id="DOC-16"),
        pytest.param(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(504), "unreadable", id="DOC-28"),
        pytest.param(bytes.fromhex("89504e470d0a1a0a0000000d49484452"), "unreadable", id="DOC-29"),
    ],
)
def test_a_document_without_usable_text_has_its_reason(content: bytes, code: str) -> None:
    """Each reason is final and has a sentence for the user."""
    assert answer_for("pdf", None, content) == {"error": code}
    assert code in REASONS


def test_an_empty_user_password_is_no_password() -> None:
    """DOC-02: every viewer opens such a file, and so do we."""
    assert pages(pdfs.encrypted("pdf encryption test", "")) == ["pdf encryption test"]


def test_a_looping_table_ends() -> None:
    """DOC-09: its text is found, and the loop is not followed for ever."""
    assert pages(pdfs.with_looping_xref("Potato 29")) == ["Potato 29"]


def test_all_scripts_are_kept_in_logical_order() -> None:
    """DOC-13: Arabic too is stored as it is read aloud."""
    (page,) = pages(pdfs.with_scripts())

    assert [line.strip() for line in page.splitlines()] == list(pdfs.MANY_SCRIPTS)


def test_a_long_document_is_read_to_its_end() -> None:
    """DOC-18: as many pages as are allowed are read, none is dropped."""
    found = pages(pdfs.with_content(PAGE_TEXT, times=MAX_PAGES))

    assert len(found) == MAX_PAGES
    assert set(found) == {"Page text"}


def test_one_page_more_than_allowed_is_refused_by_its_count() -> None:
    """DOC-18: a documented limit, and no time-out loop."""
    assert answer_for("pdf", None, pdfs.with_content(PAGE_TEXT, times=MAX_PAGES + 1)) == {"error": "too_many_pages"}


def test_more_text_than_a_model_reads_is_refused_before_it_is_paid_for() -> None:
    """The limit is on all pages together."""
    line = "word " * 1000
    content = pdfs.plain([line] * (MAX_CHARACTERS // len(line) + 2))

    assert answer_for("pdf", None, content) == {"error": "document_too_long"}


def test_text_is_storable() -> None:
    """No NUL, no control character and no half of a surrogate pair reaches a model or a store."""
    shown = b"BT /F1 12 Tf 72 700 Td (be\\000fo\\001re\\014after) Tj ET"
    (page,) = pages(pdfs.with_content(shown))
    (halved,) = pages(pdfs.with_scripts(["x\ud83cy"]))

    assert page == "before after"
    assert halved == "x\ufffdy"


def test_running_out_of_memory_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit strikes as an exception in the middle of parsing."""

    def exhaust(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(pdf_text, "PdfReader", exhaust)
    assert answer_for("pdf", None, b"%PDF-") == {"error": "extraction_memory"}


@pytest.mark.parametrize(
    ("format_", "package"),
    [
        ("pdf", "pypdf"),
        ("pdf", "cryptography"),
        ("docx", "mammoth"),
        ("html", "charset_normalizer"),
        ("text", "charset_normalizer"),
    ],
)
def test_a_package_that_is_missing_shows_before_the_document_is_read(format_: str, package: str) -> None:
    """A bundle without cryptography must not turn good documents away for good, whatever document comes first."""
    program = f"import sys; sys.modules[{package!r}] = None; from onceward.kinds.extract_child import main; main()"
    wish = json.dumps({"format": format_, "charset": None}).encode()
    ran = subprocess.run([sys.executable, "-c", program], input=wish + b"\nany bytes", capture_output=True, check=False)

    assert (ran.returncode, ran.stdout) == (NOT_READY, b"")


@pytest.mark.parametrize(
    "name", ["BrotliDecode", "JBIG2Decode", "CCITTFaxDecode", "JPXDecode", "Crypt", "NoSuchDecode"]
)
def test_a_filter_that_a_document_names_is_never_an_outage(name: str) -> None:
    """A parser asks for packages that we do not have; a document that says so would be retried for ever, uncounted."""
    with pytest.raises(JobFailure) as caught:
        asyncio.run(text_of(RealChildren(), pdf(pdfs.packed_by(name))))

    assert caught.value.code in {"unreadable", "no_text"}


@pytest.mark.parametrize("raised", [SystemExit(NOT_READY), KeyboardInterrupt(), ImportError(), RecursionError()])
def test_whatever_reading_raises_is_the_document_s(monkeypatch: pytest.MonkeyPatch, raised: BaseException) -> None:
    """No exit code of ours can be had by way of an exception."""

    def fail(*_: object, **__: object) -> None:
        raise raised

    monkeypatch.setattr(pdf_text, "PdfReader", fail)
    assert answer_for("pdf", None, b"%PDF-") == {"error": "unreadable"}


def test_a_real_child_reads_a_real_document() -> None:
    """All of it together: the module, its limits, its output; the encrypted one needs the crypto package in there."""
    content = pdfs.encrypted("First page.", "")

    assert asyncio.run(text_of(RealChildren(), pdf(content))).parts == ["First page."]


def test_a_bomb_ends_in_the_child_with_a_final_reason() -> None:
    """Half a megabyte that unpacks to 300 neither fill this process nor come back as a retry."""
    with pytest.raises(JobFailure) as caught:
        asyncio.run(text_of(RealChildren(), pdf(pdfs.bloated(300))))

    assert caught.value.code in {"unreadable", "no_text", "extraction_memory", "extraction_timeout"}


def test_the_child_starts_light() -> None:
    """It loads neither pydantic nor the kinds, and a parser only for its format: its memory belongs to the document."""
    program = "import sys, json, onceward.kinds.extract_child; print(json.dumps(sorted(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    loaded = json.loads(ran.stdout)

    assert not {"pypdf", "mammoth", "pydantic", "httpx", "onceward.kinds.catalog", "onceward.usecases"} & set(loaded)
