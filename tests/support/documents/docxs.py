"""Make DOCX files: plain, with tables, tracked changes, boxes and notes; Strict, locked, bloated, lying."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping, Sequence

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT_W = "http://purl.oclc.org/ooxml/wordprocessingml/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_STRICT_OFFICE = "http://purl.oclc.org/ooxml/officeDocument/relationships"
_RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_MAIN = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_OVERRIDE = f'<Override PartName="/word/document.xml" ContentType="{_MAIN}"/>'


def paragraph(*runs: str) -> str:
    """A paragraph of plain runs, or of runs made below."""
    return f"<w:p>{''.join(run if run.startswith('<') else text_run(run) for run in runs)}</w:p>"


def text_run(text: str) -> str:
    """A run."""
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def inserted(text: str) -> str:
    """A run that a tracked change put in."""
    return f'<w:ins w:id="1" w:author="A">{text_run(text)}</w:ins>'


def deleted(text: str) -> str:
    """A run that a tracked change took out."""
    return f'<w:del w:id="2" w:author="A"><w:r><w:delText>{text}</w:delText></w:r></w:del>'


def moved(text: str) -> str:
    """A run at the place that it was moved away from, then at its new one."""
    gone = f'<w:moveFrom w:id="3" w:author="A">{text_run(text)}</w:moveFrom>'
    return f'{gone}<w:moveTo w:id="4" w:author="A">{text_run(text)}</w:moveTo>'


def box(text: str) -> str:
    """A run with a text box, as Word writes it: new markup, and old markup for older readers."""
    inside = f"<w:txbxContent>{paragraph(text)}</w:txbxContent>"
    new = f'<mc:Choice Requires="wps"><w:drawing>{inside}</w:drawing></mc:Choice>'
    old = f"<mc:Fallback><w:pict><v:shape><v:textbox>{inside}</v:textbox></v:shape></w:pict></mc:Fallback>"
    return f"<w:r><mc:AlternateContent>{new}{old}</mc:AlternateContent></w:r>"


def note_mark(number: int) -> str:
    """A run that refers to a footnote."""
    return f'<w:r><w:footnoteReference w:id="{number}"/></w:r>'


def table(rows: Sequence[Sequence[str]]) -> str:
    """A table of one paragraph in each cell."""
    made = (
        "<w:tr>" + "".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) + "</w:tr>" for row in rows
    )  # fmt: skip
    return f"<w:tbl>{''.join(made)}</w:tbl>"


def docx(*blocks: str, notes: Mapping[int, str] | None = None, strict: bool = False) -> bytes:
    """A file of these blocks; plain text is a paragraph."""
    space, office = (STRICT_W, _STRICT_OFFICE) if strict else (W, _OFFICE)
    body = "".join(block if block.startswith("<") else paragraph(block) for block in blocks)
    spaces = (
        f'xmlns:w="{space}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
        'xmlns:v="urn:schemas-microsoft-com:vml"'
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_TYPES}">{_OVERRIDE}</Types>',
        "_rels/.rels": _related({"officeDocument": "word/document.xml"}, office),
        "word/document.xml": f"<w:document {spaces}><w:body>{body}</w:body></w:document>",
    }
    if notes:
        made = "".join(f'<w:footnote w:id="{number}">{paragraph(text)}</w:footnote>' for number, text in notes.items())
        parts["word/footnotes.xml"] = f"<w:footnotes {spaces}>{made}</w:footnotes>"
        parts["word/_rels/document.xml.rels"] = _related({"footnotes": "footnotes.xml"}, office)
    return zipped(parts)


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """An archive of these parts; the same parts give the same bytes."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(zipfile.ZipInfo(name), part, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def locked(content: bytes) -> bytes:
    """The same archive with bit 0 set in every entry's flags: under a password, says the ZIP format."""
    made = bytearray(content)
    for signature, flags_at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = made.find(signature)
        while start >= 0:
            (flags,) = struct.unpack_from("<H", made, start + flags_at)
            struct.pack_into("<H", made, start + flags_at, flags | 1)
            start = made.find(signature, start + 4)
    return bytes(made)


def bloated(megabytes: int) -> bytes:
    """A few kilobytes whose one document part unpacks to so many megabytes."""
    document = " " * (megabytes * 2**20)
    return zipped({"[Content_Types].xml": "<x/>", "_rels/.rels": "<x/>", "word/document.xml": document})


def lying(content: bytes) -> bytes:
    """The same archive, whose directory says that every entry unpacks to one byte."""
    made = bytearray(content)
    start = made.find(b"PK\x01\x02")
    while start >= 0:
        struct.pack_into("<I", made, start + 24, 1)
        start = made.find(b"PK\x01\x02", start + 4)
    return bytes(made)


def _related(targets: Mapping[str, str], office: str) -> str:
    """A relationships part."""
    made = "".join(
        f'<Relationship Id="r{kind}" Type="{office}/{kind}" Target="{target}"/>' for kind, target in targets.items()
    )
    return f'<Relationships xmlns="{_RELATIONSHIPS}">{made}</Relationships>'
