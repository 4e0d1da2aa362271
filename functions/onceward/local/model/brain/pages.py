"""Read a prompt's pages, drop running headers and footers, and find the sentences of what remains.

The bodies of all pages are joined into one stream, so that a clause or a date may cross a page; every stream
position still knows its page, so that a quote can always be taken literally from one page.
"""

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass

from onceward.local.model.brain.sentences import split_sentences

MAX_CHARACTERS = 2_000_000  # about a thousand pages; what is beyond is not analysed, so that time stays bounded
MAX_QUOTE = 300  # enough to find the place, short enough to keep an answer small
_OPENING_LINES = 14  # in which a title is looked for
_EDGE_LINES = 3  # a running header or footer is looked for in so many lines at either end of a page

_DOCUMENT = re.compile(r"<document>(.*)</document>", re.DOTALL)
_PART_START = re.compile(r'<(?:page|paragraph) number="(\d{1,6})">')
_PARAGRAPHS = re.compile(r'<document>\s*<paragraph number="')
_PAGE_NUMBER_LINE = re.compile(
    r"^[-–— ]*(?:(?:page|seite|p[aá]gina|blad)\s*)?\d{1,4}(?:\s*(?:of|/|von|sur|de|di|van)\s*\d{1,4})?[-–— ]*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open stretch of the stream."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Reference:
    """Where a fact stands: a page number and text that occurs there literally, whitespace normalised."""

    page: int
    quote: str


@dataclass(frozen=True, slots=True)
class Document:
    """A document's stream: page bodies joined by one space, with page starts and sentence spans."""

    text: str
    numbers: tuple[int, ...]
    starts: tuple[int, ...]
    sentences: tuple[Span, ...]
    opening_lines: tuple[str, ...]  # of the first page's body
    edge_lines: tuple[str, ...]  # running lines of the first page: a header may repeat the title

    def sentence_at(self, position: int) -> Span:
        """Return the sentence that covers a stream position, or an empty span there."""
        index = bisect_right(self.sentences, position, key=lambda span: span.start) - 1
        return self.sentences[index] if index >= 0 else Span(position, position)

    def text_of(self, span: Span) -> str:
        """Return the stream's text of a span."""
        return self.text[span.start : span.end].strip()

    def reference(self, start: int, end: int) -> Reference:
        """Quote the sentence around [start, end), cut to the page on which it starts and to `MAX_QUOTE`."""
        page = max(bisect_right(self.starts, start) - 1, 0)
        page_end = self.starts[page + 1] - 1 if page + 1 < len(self.starts) else len(self.text)
        sentence = self.sentence_at(start)
        low, high = max(sentence.start, self.starts[page]), min(max(sentence.end, end), page_end)
        quote = clip_around(self.text[low:high], start - low, min(end, high) - low, MAX_QUOTE)
        return Reference(self.numbers[page], quote)


def clip_around(text: str, start: int, end: int, limit: int) -> str:
    """Cut `text` at word boundaries to at most `limit` characters that include [start, end) where they fit."""
    if len(text) <= limit:
        return text.strip()
    low = max(0, min(start - (limit - (end - start)) // 2, len(text) - limit))
    high = min(low + limit, len(text))
    if low > 0 and (space := text.find(" ", low, start)) >= 0:
        low = space + 1
    if high < len(text) and (space := text.rfind(" ", end, high)) >= 0:
        high = space
    return text[low:high].strip()


def find_pages(prompt: str) -> list[tuple[int, str]]:
    """Return (number, raw text) of each page, or paragraph, of the prompt's document; empty when it holds none."""
    found = _DOCUMENT.search(prompt)
    if found is None:
        return []
    parts = _PART_START.split(found[1][:MAX_CHARACTERS])
    numbers, bodies = parts[1::2], parts[2::2]
    return [(int(number), body.rpartition("</pa")[0] or body) for number, body in zip(numbers, bodies, strict=True)]


def has_paragraphs(prompt: str) -> bool:
    """Tell whether the prompt's document is given in paragraphs, having no pages."""
    return _PARAGRAPHS.search(prompt) is not None


def read_document(pages: list[tuple[int, str]]) -> Document:
    """Join the pages' bodies into one stream and split it into sentences."""
    lines_of = [[" ".join(line.split()) for line in body.splitlines() if line.strip()] for _, body in pages]
    bodies = _without_running_lines(lines_of)
    pieces: list[str] = []
    starts: list[int] = []
    line_starts: list[int] = []
    length = 0
    for body in bodies:
        starts.append(length)
        for line in body:
            line_starts.append(length)
            pieces.append(line)
            length += len(line) + 1
    text = " ".join(pieces)
    sentences = tuple(Span(start, end) for start, end in split_sentences(text, line_starts))
    opening = bodies[0][:_OPENING_LINES] if bodies else []
    edges = [*lines_of[0][:_EDGE_LINES], *lines_of[0][-_EDGE_LINES:]] if lines_of else []
    return Document(text, tuple(number for number, _ in pages), tuple(starts), sentences, tuple(opening), tuple(edges))


def _without_running_lines(pages: list[list[str]]) -> list[list[str]]:
    """Strip from both ends of each page the lines that most pages share (digits apart) and bare page numbers."""
    seen: Counter[str] = Counter()
    for lines in pages:
        seen.update({_shape(line) for line in [*lines[:_EDGE_LINES], *lines[-_EDGE_LINES:]]})
    enough = max(2, (len(pages) + 1) // 2)
    running = {shape for shape, pages_with_it in seen.items() if pages_with_it >= enough}
    return [_strip_edges(lines, running) for lines in pages]


def _strip_edges(lines: list[str], running: set[str]) -> list[str]:
    """Drop running lines inwards from both ends, at most `_EDGE_LINES` each, so that a body stays contiguous."""
    low, high = 0, len(lines)
    while low < min(_EDGE_LINES, high) and _is_running(lines[low], running):
        low += 1
    while high > max(len(lines) - _EDGE_LINES, low) and _is_running(lines[high - 1], running):
        high -= 1
    return lines[low:high]


def _is_running(line: str, running: set[str]) -> bool:
    return _shape(line) in running or _PAGE_NUMBER_LINE.match(line) is not None


def _shape(line: str) -> str:
    return re.sub(r"\d+", "#", line).casefold()
