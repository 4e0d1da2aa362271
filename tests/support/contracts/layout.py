"""Lay a contract out as a PDF with reportlab: the same contract always gives the same bytes."""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import Any

from reportlab.lib.enums import TA_CENTER, TA_JUSTIFY
from reportlab.lib.pagesizes import A4, LETTER
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

_FOOTER_HEIGHT = 12 * mm


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """How the pages look; what generated contracts vary."""

    size: tuple[float, float] = A4
    font: str = "Helvetica"
    points: float = 10.0
    margin_mm: float = 24.0
    header: str = ""
    footer: str = "Page {page}"
    edges_first: bool = True  # header and footer come before the text in the file, as in most programs' output


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """A title and blocks: a paragraph, a heading (`#` first) or a table of rows."""

    title: str
    blocks: tuple[str | tuple[tuple[str, ...], ...], ...]
    page: Page = Page()


class _Document(SimpleDocTemplate):
    """A document that can draw header and footer after a page's text, too."""

    at_page_end: Callable[[Canvas, Any], None] | None = None

    def afterPage(self) -> None:  # noqa: N802 (reportlab's name)
        """Draw what comes last in the page's content."""
        if self.at_page_end is not None:
            self.at_page_end(self.canv, self)


SIZES = {"a4": A4, "letter": LETTER}


def render(contract: Contract) -> bytes:
    """Return the PDF. Paragraphs break across pages where they happen to; that is part of the proof."""
    page = contract.page
    out = BytesIO()
    edge = page.margin_mm * mm
    document = _Document(
        out,
        pagesize=page.size,
        leftMargin=edge,
        rightMargin=edge,
        topMargin=edge,
        bottomMargin=edge,
        title=contract.title,
        author="Onceward",
        invariant=1,  # no creation time, no random identity
    )

    def edges(canvas: Canvas, _: Any) -> None:
        canvas.saveState()
        canvas.setFont(page.font, 8)
        number = canvas.getPageNumber()
        canvas.drawString(edge, page.size[1] - _FOOTER_HEIGHT, page.header.format(page=number))
        canvas.drawCentredString(page.size[0] / 2, _FOOTER_HEIGHT, page.footer.format(page=number))
        canvas.restoreState()

    if page.edges_first:
        document.build(_flowables(contract), onFirstPage=edges, onLaterPages=edges)
    else:
        document.at_page_end = edges
        document.build(_flowables(contract))
    return out.getvalue()


def _flowables(contract: Contract) -> list[Flowable]:
    page = contract.page
    bold = {"Helvetica": "Helvetica-Bold", "Times-Roman": "Times-Bold"}[page.font]
    leading = page.points * 1.4
    title = ParagraphStyle("title", fontName=bold, fontSize=page.points + 5, leading=leading + 8, alignment=TA_CENTER)
    heading = ParagraphStyle("heading", fontName=bold, fontSize=page.points + 1, leading=leading, spaceBefore=leading)
    text = ParagraphStyle(
        "text",
        fontName=page.font,
        fontSize=page.points,
        leading=leading,
        spaceAfter=leading / 2,
        alignment=TA_JUSTIFY,
        allowWidows=1,
        allowOrphans=1,
    )
    flowables: list[Flowable] = [Paragraph(escape(contract.title), title), Spacer(1, leading)]
    for block in contract.blocks:
        if isinstance(block, tuple):
            flowables.append(_table(block, text))
        elif block.startswith("#"):
            flowables.append(Paragraph(escape(block.removeprefix("#").strip()), heading))
        else:
            flowables.append(Paragraph(escape(block, quote=False), text))
    return flowables


def _table(rows: tuple[tuple[str, ...], ...], style: ParagraphStyle) -> Table:
    cells = [[Paragraph(escape(cell, quote=False), style) for cell in row] for row in rows]
    table = Table(cells, hAlign="LEFT")
    table.setStyle(TableStyle([("GRID", (0, 0), (-1, -1), 0.4, "#888888"), ("VALIGN", (0, 0), (-1, -1), "TOP")]))
    return table
