"""Good documents of every format, and the ways in which bytes go bad."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.support.documents import docxs, pdfs

DOCUMENTS: dict[str, tuple[str, bytes]] = {
    "plain pdf": ("pdf", pdfs.plain(["The fee is EUR 5.", "Second page."])),
    "open pdf": ("pdf", pdfs.encrypted("Locked and open.", "")),
    "pdf in many scripts": ("pdf", pdfs.with_scripts()),
    "looping pdf": ("pdf", pdfs.with_looping_xref("Potato")),
    "pdf without a map": ("pdf", pdfs.without_character_map("Words")),
    "scanned pdf": ("pdf", pdfs.with_picture_only()),
    "packed pdf": ("pdf", pdfs.bloated(1)),
    "docx": ("docx", docxs.docx("One", docxs.paragraph(docxs.inserted("new"), docxs.deleted("old")), "Two")),
    "docx with a table": (
        "docx",
        docxs.docx(docxs.table([["a", "b"], ["c", "d"]]), docxs.paragraph("x", docxs.box("y"))),
    ),
    "docx with notes": ("docx", docxs.docx(docxs.paragraph("x", docxs.note_mark(1)), notes={1: "note"}, strict=True)),
    "html": ("html", b"<title>T</title><table><tr><td>a<td>b</table><p>x &amp; y<script>z</script>"),
    "text": ("text", "Grüße\n\n你好世界".encode()),
    "wide text": ("text", "Grüße, Welt".encode("utf-16")),
}


@st.composite
def mutated(draw: st.DrawFn, content: bytes) -> bytes:
    """The bytes with up to eight wounds: flipped, dropped, repeated, replaced, cut."""
    made = bytearray(content)
    for _ in range(draw(st.integers(1, 8))):
        if not made:
            break
        at = draw(st.integers(0, len(made) - 1))
        length = draw(st.integers(1, 24))
        match draw(st.sampled_from(("flip", "drop", "repeat", "replace", "cut", "number"))):
            case "flip":
                made[at] ^= 1 << draw(st.integers(0, 7))
            case "drop":
                del made[at : at + length]
            case "repeat":
                made[at:at] = made[at : at + length] * draw(st.integers(1, 50))
            case "replace":
                made[at : at + length] = draw(st.binary(max_size=length))
            case "cut":
                del made[at:]
            case _:  # where a length or an offset may stand
                made[at : at + 2] = str(draw(st.sampled_from((0, -1, 1, 2**31, 2**63, 10**18)))).encode()
    return bytes(made)
