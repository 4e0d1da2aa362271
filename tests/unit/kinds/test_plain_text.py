"""Bytes of text: decoded rightly, or refused honestly; and where a paragraph ends."""

from __future__ import annotations

import codecs
import random

import pytest

from onceward.kinds.extract_child import answer_for
from onceward.kinds.extraction_limits import LONG_PARAGRAPH, MAX_CHARACTERS

RUSSIAN = "Договор аренды нежилого помещения. Арендная плата составляет 10 000 рублей в месяц."
GERMAN = "Der Mieter verpflichtet sich, die Räume pünktlich zurückzugeben. Die Gebühr beträgt 500 Euro im Jahr."
FRENCH = "Le présent contrat est conclu à Paris, où l’acheteur s’engage à payer la somme prévue à l’échéance."
POLISH = "Najemca zobowiązuje się do zapłaty czynszu w wysokości pięciuset złotych miesięcznie, z góry."
TURKISH = "Kiracı, kira bedelini her ayın beşinci gününe kadar ödemeyi kabul eder."  # noqa: RUF001 - Turkish
CHINESE = "本合同由甲方与乙方签订。租金为每月一千元。双方同意遵守本合同的所有条款。"
JAPANESE = "この契約は、甲と乙の間で締結された賃貸借契約である。賃料は月額十万円とする。"
KOREAN = "이 계약은 갑과 을 사이에 체결되었다. 월세는 백만 원으로 한다."
HEBREW = "הסכם זה נחתם בין הצדדים ותקף למשך שנה אחת."


def read(content: bytes, charset: str | None = None) -> object:
    """The paragraphs, or the reason."""
    said = answer_for("text", charset, content)
    return said.get("error", said.get("parts"))


@pytest.mark.parametrize(
    ("content", "text"),
    [
        pytest.param(codecs.BOM_UTF16_LE + "город Казань".encode("utf-16-le"), "город Казань", id="DOC-25"),
        pytest.param(codecs.BOM_UTF16_BE + "город".encode("utf-16-be"), "город", id="big-endian"),
        pytest.param(codecs.BOM_UTF32_LE + "город".encode("utf-32-le"), "город", id="UTF-32"),
        pytest.param(bytes.fromhex("69006e00740020006d00610069006e0028002900"), "int main()", id="DOC-27"),
        pytest.param("город Казань, ул. Баумана 1".encode("utf-16-be"), "город Казань, ул. Баумана 1", id="no mark"),
        pytest.param(codecs.BOM_UTF8 + b"---\ntitle: x\n---\nBody", "---\ntitle: x\n---\nBody", id="DOC-30"),
        pytest.param("Zürich".encode(), "Zürich", id="UTF-8"),
        pytest.param(b"text " * 50 + b"\x1bb", "text " * 50 + "b", id="a control character"),
    ],
)
def test_what_says_its_encoding_is_decoded_by_it(content: bytes, text: str) -> None:
    """A mark, or the pattern that an encoding leaves; never a NUL or a mark in the text."""
    assert read(content) == [text]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (GERMAN, "cp1252"),
        (FRENCH, "cp1252"),
        (POLISH, "cp1250"),
        (TURKISH, "cp1254"),
        (CHINESE, "gb18030"),
        (JAPANESE, "shift_jis"),
        (KOREAN, "euc_kr"),
    ],
)
def test_a_legacy_encoding_without_a_rival_is_recognised(text: str, encoding: str) -> None:
    """By its letters' frequency, its language's own code page, or its grammar of bytes."""
    assert read(text.encode(encoding)) == [text]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (RUSSIAN, "cp866"),
        (GERMAN, "mac_roman"),
        (GERMAN, "cp850"),
        (HEBREW, "cp1255"),
        (JAPANESE, "euc_jp"),
        ("Gebühr: 5", "cp1252"),
        ("город", "cp1251"),
    ],
)
def test_what_nobody_can_tell_is_refused_and_never_misread(text: str, encoding: str) -> None:
    """A wrong letter in a contract is worse than a refusal; with its charset named, each is read."""
    assert read(text.encode(encoding)) == "unsupported_encoding"
    if encoding != "cp850":  # which nothing on the web may name
        assert read(text.encode(encoding), encoding.replace("_", "-")) == [text]


@pytest.mark.parametrize("charset", ["rot13", "zlib", "utf-7", "idna", "no-such-thing", "unicode_escape", "cp037"])
def test_a_charset_that_is_none_is_refused(charset: str) -> None:
    """Python's codecs are more than text encodings."""
    assert read(b"text", charset) == "unsupported_encoding"


def test_a_declared_charset_that_is_wrong_is_refused() -> None:
    """Not one byte is replaced."""
    assert read("город".encode("cp1251"), "utf-8") == "unsupported_encoding"


def test_latin_1_is_read_as_browsers_read_it() -> None:
    """Its quotes and dashes are Windows'."""
    assert read("“€”".encode("cp1252") + b" x", "iso-8859-1") == ["“€” x"]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(bytes.fromhex("89504e470d0a1a0a0000000d49484452"), id="DOC-29"),
        pytest.param(b"%PDF-1.7\n", id="a PDF"),
        pytest.param(b"PK\x03\x04rest", id="a ZIP"),
        pytest.param(bytes(64), id="zeros"),
        pytest.param(b"a\x00b\x01c\x00\x00d", id="zeros on both sides"),
        pytest.param(bytes(range(1, 32)) * 9, id="control characters"),
    ],
)
def test_bytes_that_are_no_text_are_another_format(content: bytes) -> None:
    """Announced as text, they are still none."""
    assert read(content) == "unsupported_format"


def test_random_bytes_are_never_taken_for_text() -> None:
    """Three hundred pieces of noise, each refused."""
    noise = random.Random(5)

    assert {str(read(noise.randbytes(400))) for _ in range(300)} <= {"unsupported_format", "unsupported_encoding"}


@pytest.mark.parametrize(
    ("text", "paragraphs"),
    [
        ("One\nstill one\n\nTwo\r\n \r\nThree", ["One\nstill one", "Two", "Three"]),
        ("# Title\n\n- a\n- b\n\n\n\nEnd\n", ["# Title", "- a\n- b", "End"]),
        ("One\fTwo", ["One", "Two"]),
    ],
)
def test_blank_lines_part_paragraphs(text: str, paragraphs: list[str]) -> None:
    """Markdown stays as it is written."""
    assert read(text.encode()) == paragraphs


def test_a_block_without_end_is_parted_at_its_lines() -> None:
    """A reference to the one paragraph of a log would say nothing."""
    line = "x" * 99
    found = read("\n".join([line] * 100).encode())

    assert isinstance(found, list)
    assert max(map(len, found)) <= LONG_PARAGRAPH
    assert "\n".join(found) == "\n".join([line] * 100)


@pytest.mark.parametrize("content", [b"", b" \n ", b"-- .."])
def test_no_words_are_no_text(content: bytes) -> None:
    """An empty file is not sent to a model."""
    assert read(content) == "no_text"


def test_more_text_than_a_model_reads_is_refused() -> None:
    """In any encoding, and before anybody guesses at it."""
    assert read(b"word " * (MAX_CHARACTERS // 5 + 1)) == "document_too_long"
    assert read("ü".encode("cp1252") * (4 * MAX_CHARACTERS + 1)) == "document_too_long"
