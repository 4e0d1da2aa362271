"""The contract that ships with Onceward: a services agreement between two made-up companies, three pages."""

from pathlib import Path

from tests.support.contracts.layout import Contract, Page, render

_TEXT = Path(__file__).with_name("sample.txt")
_PAGE = Page(
    points=10.5,
    header="Halden & Pryce Freight Ltd / Meridian Ledger Systems GmbH - Services Agreement no. HP-2026-0117",
    footer="Confidential - page {page}",
)


def sample_pdf() -> bytes:
    """Return the sample's bytes: empty lines part paragraphs, `#` starts a heading, `|` parts the cells of a row."""
    title, *blocks = _TEXT.read_text(encoding="utf-8").strip().split("\n\n")
    return render(Contract(title=title, blocks=tuple(_block(block) for block in blocks), page=_PAGE))


def _block(text: str) -> str | tuple[tuple[str, ...], ...]:
    if " | " not in text:
        return text
    return tuple(tuple(row.split(" | ")) for row in text.splitlines())
