"""Check what a model says against the document: a quote that does not occur in its part is no evidence.

Compared are words: white space counts as one blank, typographic quotes, dashes and blanks as their plain twins, and
what cannot be seen not at all, on both sides. Every character compared has its place in the document's own text, and
the reference then carries that text and not the model's spelling of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from onceward.kinds.analysis import DocumentAnalysis, PagedAnalysis, ParagraphAnalysis, Reference
from onceward.kinds.answers import Fault, unusable
from onceward.kinds.extracted import Extracted
from onceward.kinds.frame import TWINS, is_hidden

FIELDS = ("parties", "dates", "amounts", "obligations", "risks")
_FANCY = "“”„‟«»‘’‚‛›–—‒―‐‑−"  # noqa: RUF001 - these very characters
_PLAIN: Mapping[int, int | str] = {**str.maketrans(_FANCY, '"' * 6 + "'" * 4 + ">" + "-" * 7), **TWINS}


@dataclass(frozen=True, slots=True)
class _Line:
    """A text as one line, what of it is compared, and where in the line each compared character stands."""

    text: str
    plain: str
    places: Sequence[int]


def _line_of(text: str) -> _Line:
    """Read a text so."""
    line = " ".join(text.split())
    if line.isascii():
        return _Line(line, line, range(len(line)))
    places: list[int] = []
    for place, character in enumerate(line):
        is_second_blank = character == " " and bool(places) and line[places[-1]] == " "
        if not is_second_blank and not is_hidden(character):
            places.append(place)
    return _Line(line, "".join(line[place] for place in places).translate(_PLAIN), places)


def confirm(analysis: PagedAnalysis | ParagraphAnalysis, text: Extracted) -> DocumentAnalysis:
    """The analysis with every reference checked; raises ``Unusable`` with all that fail."""
    lines = [_line_of(part) for part in text.parts]
    given, faults = analysis.model_dump(), list[Fault]()
    for field in FIELDS:
        for index, item in enumerate(getattr(analysis, field)):
            found = _located(item.reference, lines)
            if isinstance(found, Fault):
                place = found.place.replace("number", text.unit)
                faults.append(Fault(found.rule.replace("part", text.unit), f"/{field}/{index}/reference/{place}"))
            else:
                given[field][index]["reference"]["quote"] = found
    if faults:
        raise unusable(faults)
    return DocumentAnalysis.model_validate({**given, f"{text.unit}s": len(text.parts)})


def _located(reference: Reference, lines: Sequence[_Line]) -> str | Fault:
    """The document's own words for a quote."""
    if not 1 <= reference.number <= len(lines):
        return Fault("no_such_part", "number")
    line, quote = lines[reference.number - 1], _line_of(reference.quote)
    wanted = quote.plain.strip()
    if not wanted:
        return Fault("quote_not_found", "quote")
    start = line.text.find(quote.text)
    if start >= 0:
        return quote.text
    start = line.plain.find(wanted)
    if start < 0:
        return Fault("quote_not_found", "quote")
    return line.text[line.places[start] : line.places[start + len(wanted) - 1] + 1]
