"""What is read of an HTML page: its words, block by block, and nothing that a browser would run or hide as code."""

from __future__ import annotations

import pytest

from onceward.kinds.extract_child import answer_for


def read(page: str | bytes, charset: str | None = None) -> object:
    """The blocks, or the reason."""
    said = answer_for("html", charset, page.encode() if isinstance(page, str) else page)
    return said.get("error", said.get("parts"))


@pytest.mark.parametrize(
    ("page", "blocks"),
    [
        pytest.param("<p>One<p>Two <b>bold</b>", ["One", "Two bold"], id="never closed"),
        pytest.param("<title>T</title><h1>H</h1>text<ul><li>a<li>b</ul>", ["T", "H", "text", "a", "b"], id="blocks"),
        pytest.param(
            "<table><tr><th>Fee<th>Due<tr><td><p>EUR 5</p><p>net</p><td>May</table>",
            ["Fee\tDue", "EUR 5\nnet\tMay"],
            id="rows together, cells apart",
        ),
        pytest.param("a &amp; b &lt;page&gt; &#1075;&eacute;", ["a & b <page> гé"], id="references"),
        pytest.param("<p>a\n   b<br>c</p><pre>x\n  y</pre>", ["a b\nc", "x\ny"], id="white space"),
        pytest.param(
            "<script>evil()</script><style>p{}</style><p>seen<!-- not --></p><noscript>no</noscript>",
            ["seen"],
            id="code is no text",
        ),
        pytest.param("</p></td></script>x</div>", ["x"], id="ends without beginnings"),
        pytest.param("<p>before<script>never closed", ["before"], id="a script without end"),
        pytest.param("<![CDATA[x]]><p>y", ["y"], id="sections"),
    ],
)
def test_a_page_is_read_as_its_blocks(page: str, blocks: list[str]) -> None:
    """Broken markup is read as a browser would, roughly; it is never an error."""
    assert read(page) == blocks


@pytest.mark.parametrize(
    ("page", "charset", "text"),
    [
        pytest.param("<meta charset=windows-1251><p>город".encode("cp1251"), None, "город", id="meta"),
        pytest.param('<meta content="text/html; charset=koi8-r"><p>город'.encode("koi8-r"), None, "город", id="old"),
        pytest.param("<p>город".encode("cp1251"), "cp1251", "город", id="declared"),
        pytest.param("<meta charset=koi8-r><p>город".encode("cp1251"), "cp1251", "город", id="declared goes first"),
        pytest.param(b"\xef\xbb\xbf<meta charset=koi8-r><p>" + "город".encode(), None, "город", id="a mark goes first"),
        pytest.param("<p>город".encode("utf-16"), None, "город", id="UTF-16"),
    ],
)
def test_a_page_is_decoded_as_it_says(page: bytes, charset: str | None, text: str) -> None:
    """A mark, then the header's charset, then the page's own word."""
    assert read(page, charset) == [text]


@pytest.mark.parametrize(
    ("page", "code"),
    [
        (b"", "no_text"),
        (b"<p></p>", "no_text"),
        (b"<script>only()</script>", "no_text"),
        (bytes.fromhex("89504e470d0a1a0a"), "unsupported_format"),
        (b"<meta charset=utf-7>+ADw-script+AD4-", "unsupported_encoding"),
        (b"<p>word " * 200_000, "document_too_long"),
    ],
)
def test_a_page_without_readable_words_has_its_reason(page: bytes, code: str) -> None:
    """Final, like every other."""
    assert read(page) == code


def test_markup_nested_without_end_is_read_in_no_time() -> None:
    """No recursion, no memory for what is open."""
    assert read("<div>" * 300_000 + "deep") == ["deep"]
