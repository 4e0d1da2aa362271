"""Make PDFs: plain, encrypted, empty, many-scripted, looped, bloated."""

from __future__ import annotations

import io
import zlib
from collections.abc import Sequence

from pypdf import PdfReader, PdfWriter
from reportlab.pdfgen.canvas import Canvas

ARABIC = "مرحبا بالعالم"
MANY_SCRIPTS = ("Hello World", ARABIC, "Привет, мир", "你好世界", "สวัสดี", "こんにちは")


def plain(pages: Sequence[str]) -> bytes:
    """One page for each text, one line of text for each of its lines; an empty text makes a blank page."""
    made = io.BytesIO()
    canvas = Canvas(made, invariant=True)
    for page in pages:
        for number, line in enumerate(page.splitlines()):
            canvas.drawString(72, 760 - 14 * number, line)
        canvas.showPage()
    canvas.save()
    return made.getvalue()


def encrypted(page: str, user_password: str) -> bytes:
    """AES-256 (revision 6); an empty user password is what every viewer opens without asking."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(plain([page]))))
    writer.encrypt(user_password, owner_password="owner", algorithm="AES-256")
    made = io.BytesIO()
    writer.write(made)
    return made.getvalue()


def without_pages() -> bytes:
    """A valid file whose page tree is empty."""
    return _assembled(["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [] /Count 0 >>"])


def with_content(content: bytes, *, filters: str = "", times: int = 1) -> bytes:
    """One page whose content stream is given as it stands; the page tree may name it many times."""
    font = "<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>"
    return _assembled([*_first_objects(times), _stream(content, filters), font])


def with_removed_filter() -> bytes:
    """Its stream names a filter by an abbreviation that pypdf refuses with an error of another family."""
    return with_content(b"87cURD]i,~>", filters="/Filter /A85")


def packed_by(name: str) -> bytes:
    """Its one page's stream names a filter, and holds bytes that no filter makes anything of."""
    return with_content(b"x" * 64, filters=f"/Filter /{name}")


def with_scripts(lines: Sequence[str] = MANY_SCRIPTS) -> bytes:
    """One page in many scripts: a font whose codes are UTF-16 units, as its ToUnicode map says."""
    shown = b"".join(
        b"<" + _laid_out(line).encode("utf-16-be", "surrogatepass").hex().encode() + b"> Tj T* " for line in lines
    )
    cmap = (
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /U def /CMapType 2 def "
        b"1 begincodespacerange <0000> <FFFF> endcodespacerange "
        b"1 beginbfrange <0000> <FFFF> <0000> endbfrange endcmap end end"
    )
    parts = "/Encoding /Identity-H /DescendantFonts [6 0 R] /ToUnicode 7 0 R"
    font = f"<< /Type /Font /Subtype /Type0 /BaseFont /Any {parts} >>"
    system = "<< /Registry (Adobe) /Ordering (Identity) /Supplement 0 >>"
    descendant = f"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Any /CIDSystemInfo {system} /DW 1000 >>"
    content = b"BT /F1 12 Tf 72 700 Td 14 TL " + shown + b"ET"
    return _assembled([*_first_objects(1), _stream(content), font, descendant, _stream(cmap)])


def without_character_map(text: str) -> bytes:
    """One page drawn by the glyph numbers of a font that does not say which letters they are."""
    shown = b"<" + bytes(ord(letter) % 90 + 3 for letter in text).hex().encode() + b"> Tj"
    font = "<< /Type /Font /Subtype /Type0 /BaseFont /Any /Encoding /Identity-H /DescendantFonts [6 0 R] >>"
    system = "<< /Registry (Adobe) /Ordering (Identity) /Supplement 0 >>"
    descendant = f"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Any /CIDSystemInfo {system} /DW 1000 >>"
    content = b"BT /F1 12 Tf 72 700 Td " + shown + b" ET"
    return _assembled([*_first_objects(1), _stream(content), font, descendant])


def with_picture_only() -> bytes:
    """One page that shows a picture of one pixel, as a scan does."""
    picture = _stream(
        b"\x00", "/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8"
    )
    objects = _first_objects(1)
    objects[2] = objects[2].replace("/Font << /F1 5 0 R >>", "/XObject << /I1 5 0 R >>")
    return _assembled([*objects, _stream(b"q 500 0 0 700 50 50 cm /I1 Do Q"), picture])


def with_looping_xref(page: str) -> bytes:
    """Its cross-reference table names itself as the one before it, for ever."""
    made = with_content(f"BT /F1 12 Tf 72 700 Td ({page}) Tj ET".encode())
    table = made.rindex(b"xref\n0")
    return made.replace(b"/Root 1 0 R", b"/Root 1 0 R /Prev " + str(table).encode())


def bloated(megabytes: int) -> bytes:
    """A few kilobytes whose one page's stream unpacks to so many megabytes."""
    packer, megabyte, checksum = zlib.compressobj(1, zlib.DEFLATED, -zlib.MAX_WBITS), b" " * 2**20, 1
    packed = packer.compress(megabyte) + packer.flush(zlib.Z_FULL_FLUSH)  # which can stand there any number of times
    for _ in range(megabytes):
        checksum = zlib.adler32(megabyte, checksum)
    whole = b"\x78\x01" + packed * megabytes + packer.flush() + checksum.to_bytes(4)
    return with_content(whole, filters="/Filter /FlateDecode")


def _laid_out(line: str) -> str:
    """A line as a typesetter places its letters, from left to right: Arabic from its end."""
    return line[::-1] if line == ARABIC else line


def _first_objects(times: int) -> list[str]:
    """Root, page tree and the one page, whose content is object 4 and whose font is object 5."""
    kids = "3 0 R " * times
    resources = "/Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >>"
    return [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {times} >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] {resources} >>",
    ]


def _stream(content: bytes, filters: str = "") -> bytes:
    """A stream object's body."""
    return f"<< /Length {len(content)} {filters} >>\nstream\n".encode() + content + b"\nendstream"


def _assembled(objects: Sequence[str | bytes]) -> bytes:
    """Objects numbered from 1, the first one being the root, with their cross-reference table."""
    made = bytearray(b"%PDF-1.7\n")
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(made))
        made += f"{number} 0 obj\n".encode() + (body.encode() if isinstance(body, str) else body) + b"\nendobj\n"
    table = len(made)
    made += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    made += b"".join(f"{place:010d} 00000 n \n".encode() for place in places)
    made += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n".encode()
    return bytes(made)
