"""Split a stream of lines into sentences: at full stops that end one, after headings and before numbered clauses."""

import re
from collections.abc import Iterator, Sequence

from onceward.local.model.brain.calendar import MONTH_PATTERN

_END = re.compile(r"[.!?;][.!?;:\"'”’»)\]]*(?= )|[。\uff01\uff1f]")  # the last two: full-width marks
_LAST_WORD = re.compile(r"[^\s(]+$")
_NUMBER = r"(?:§ ?)?\d{1,2}(?:\.\d{1,2}){0,3}"
_MARKER = r"\(?(?:\d{1,2}(?:\.\d{1,2}){0,3}|[a-z]|[ivx]{1,5})[.)]|\d{1,2}(?:\.\d{1,2}){1,3}|§ ?\d{1,3}|[•▪–-]"
_CLAUSE_NUMBER = re.compile(rf"(?:{_MARKER}) (?!(?i:{MONTH_PATTERN})\b)")
_ALL_CAPS = re.compile(r"[^a-zäöüßéèàçáíóúñ\d]*[A-ZÄÖÜÉÈÀÇÁÍÓÚÑ]{4}[^a-zäöüßéèàçáíóúñ]*$")
_LONE_SUM = re.compile(r"(?:[A-Z]{3} ?|[€$£] ?)\d[\d.,' ]*$|\d[\d.,' ]* ?(?:[A-Z]{3}|[€$£])$")  # the last cell of a row
_NUMBERED_HEADING = re.compile(rf"{_NUMBER}[.)]? (?!(?i:{MONTH_PATTERN})\b)[A-ZÄÖÜÉÈÀÇÁÍÓÚÑ][^.;,:!?\d]{{2,60}}$")
_WORD_HEADING = re.compile(
    r"(?i:article|section|clause|schedule|annex|appendix|artikel|anlage|abschnitt|cl[aá]usula|annexe|anexo|titre)"
    r" [\dA-Z][^.;,!?]{0,60}$"
)
_SHORT_LINE = 0.6  # of a usual line: a wrapped line is longer, unless it ends its paragraph
_HEADING_WORDS = 7  # its number included
_LONGEST_HEADING = 90  # characters; a longer line is running text, whatever its letters
_ABBREVIATION = re.compile(
    r"inc|ltd|co|corp|nos?|arts?|nr|abs|ziff|mrs?|ms|dr|prof|st|jr|sr|vs|etc|cf|approx|dept|e\.g|i\.e|z\.b|bzw|usw|ggf|inkl"
    r"|zzgl|ca|mio|mrd|bd|s\.a|s\.l|s\.r\.l|s\.p\.a|b\.v|n\.v|u\.s|u\.k|a\.m|p\.m|sect|para|fig|vol|jan|feb|mar|apr|jun|jul"
    r"|aug|sept?|oct|nov|dec|av|d\.h|u\.a|p\.ej|núm|pág|rs"
)


def split_sentences(text: str, line_starts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each sentence in order; together they cover every word of the text once."""
    start = 0
    for cut in sorted({*_ends_by_punctuation(text), *_ends_by_layout(text, line_starts), len(text)}):
        while start < cut and text[start] == " ":
            start += 1
        if start < cut:
            yield start, cut
            start = cut


def _ends_by_punctuation(text: str) -> Iterator[int]:
    for match in _END.finditer(text):
        if match[0][0] == "." and not _really_ends(text, match.start(), match.end()):
            continue
        if match[0][0] == ";" and not _CLAUSE_NUMBER.match(text, match.end() + 1):
            continue  # a semicolon ends a sentence only between the items of a list
        yield match.end()


def _really_ends(text: str, stop: int, end: int) -> bool:
    """Tell a full stop from the dot of an abbreviation, an initial, an ordinal or a clause number."""
    if text[end + 1 : end + 2].islower():
        return False
    window = text[max(0, stop - 24) : stop]
    word = _LAST_WORD.search(window)
    last = word[0].lower() if word else ""
    if _ABBREVIATION.fullmatch(last) or (len(last) == 1 and last.isalpha()):
        return False
    if re.fullmatch(r"\d{1,2}", last):
        return False  # "12. März", "Clause 5. Fees"
    opens = word is not None and window[: word.start()].rstrip()[-1:] in ("", ".", ";", ":", ")")
    return not (opens and re.fullmatch(r"\d{1,2}(?:\.\d{1,2})+", last))


def _ends_by_layout(text: str, line_starts: Sequence[int]) -> Iterator[int]:
    """Yield where a heading or a table's last cell ends, or a numbered clause begins; only line starts can tell."""
    ends = [*line_starts[1:], len(text) + 1][: len(line_starts)]
    lengths = sorted(end - start for start, end in zip(line_starts, ends, strict=True))
    short = lengths[len(lengths) * 3 // 4] * _SHORT_LINE if lengths else 0
    for here, following in zip(line_starts, ends, strict=True):
        line = text[here : following - 1]
        if here and (_CLAUSE_NUMBER.match(line) or is_heading(line)):
            yield here - 1
        alone = is_heading(line) or _LONE_SUM.match(line) or (len(line) < short and _is_title_case(line))
        if alone and following <= len(text) and not text[following].islower():
            yield following - 1


def _is_title_case(line: str) -> bool:
    """Tell "Statement of Work" from a wrapped line: each word of weight is capitalised and nothing ends it."""
    words = re.findall(r"[^\W\d_]{4,}", line)
    return bool(words) and all(word[0].isupper() for word in words) and line[-1].isalnum()


def is_heading(line: str) -> bool:
    """Decide whether a line stands alone: capitals, a short numbered title, or "Section 4 Fees"."""
    if len(line) > _LONGEST_HEADING or len(line.split()) > _HEADING_WORDS:
        return False
    return any(pattern.match(line) for pattern in (_ALL_CAPS, _NUMBERED_HEADING, _WORD_HEADING))
