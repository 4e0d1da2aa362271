"""Read dates in the formats that contracts use, in seven languages, as ISO 8601 days."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date

_MONTH_NAMES = (
    "january jan januar jänner janvier janv enero ene gennaio gen januari janeiro",
    "february feb februar février fevrier févr febrero febbraio febbr februari fevereiro fev",
    "march mar mars märz maerz mrz marzo maart mrt março marco",
    "april apr avril avr abril abr aprile",
    "may mai mayo maggio mag mei maio",
    "june jun juni juin junio giugno giu junho",
    "july jul juli juillet juil julio luglio lug julho",
    "august aug août aout agosto ago augustus agt",
    "september sept sep septembre septiembre setiembre settembre sett set setembro",
    "october oct oktober okt octobre octubre ottobre ott outubro out",
    "november nov novembre noviembre novembro",
    "december dec dezember dez décembre decembre déc diciembre dic dicembre dezembro",
)
_MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES, start=1) for name in names.split()}
MONTH_PATTERN = "|".join(sorted(_MONTHS, key=lambda name: (-len(name), name)))
_ORDINALS = [
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh"),
    *("twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"),
    *("twentieth", "twenty-first", "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth"),
    *("twenty-seventh", "twenty-eighth", "twenty-ninth", "thirtieth", "thirty-first"),
]
_ORDINAL_PATTERN = "|".join(sorted(_ORDINALS, key=len, reverse=True))
_MONTHS_OF_YEAR = 12
_FIRST_FULL_YEAR = 100
_PIVOT = 70  # a two-digit year below it is of this century, as in POSIX

_DAY = rf"(?P<day>\d{{1,2}}|\b(?:{_ORDINAL_PATTERN}))"
_SUFFIX = r"(?: ?(?:st|nd|rd|th|er|ste|de|e)\b|\.?º|ª)?\.?"
_LINK = r"(?:day ?of|dias? (?:do|de)|día de|of|de|di)"
_MONTH = rf"(?P<month>{MONTH_PATTERN})\b\.?"
_YEAR = r"(?P<year>(?:19|20)\d{2})(?!\d)"
_THE_YEAR = r"(?:(?:of|del?|(?:of |in )?the year) )?"
_NAMED = re.compile(
    rf"(?<![\d.,/-]){_DAY}{_SUFFIX}[ -]?(?:{_LINK} )?[ /-]?{_MONTH},?[ /-]?{_THE_YEAR}{_YEAR}"
    rf"|\b(?P<month2>{MONTH_PATTERN})\b\.? ?(?:the )?(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?,? ?"
    r"(?P<year2>(?:19|20)\d{2})(?!\d)"
    rf"|(?<!\d)(?P<year3>(?:19|20)\d{{2}}) (?P<month3>{MONTH_PATTERN})\b\.? (?P<day3>\d{{1,2}})(?!\d)",
    re.IGNORECASE,
)
_NUMERIC = re.compile(
    r"(?<![\d.,/-])(?:(?P<y>(?:19|20)\d{2})(?P<s>[-/.])(?P<m>\d{1,2})(?P=s)(?P<d>\d{1,2})"
    r"|(?P<a>\d{1,2})(?P<t>[./-]) ?(?P<b>\d{1,2})(?P=t) ?"
    r"(?P<c>(?:19|20)\d{2}|(?<=\d\d[./-]\d\d[./-])\d{2}|(?<=/)\d{2}))(?![\d/-]|[.,]\d)"
    r"|(?P<ey>(?:19|20)\d{2}) ?年 ?(?P<em>\d{1,2}) ?月 ?(?P<ed>\d{1,2}) ?日"
)
_ANY_YEAR = re.compile(r"(?:19|20)\d{2}")
_AROUND_YEAR = 60  # characters: "the twenty-seventh day of September in the year" is 47


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A day as it stands at [start, end) of a text."""

    start: int
    end: int
    value: date


def find_dates(text: str) -> Iterator[FoundDate]:
    """Yield every readable day of the text in order; what is no real day (31.02.2026) is left out."""
    named = (match for start, end in _stretches_with_years(text) for match in _NAMED.finditer(text, start, end))
    found = [*_read(named, _named_parts), *_read(_NUMERIC.finditer(text), _numeric_parts)]
    yield from sorted(found, key=lambda one: one.start)


def _stretches_with_years(text: str) -> Iterator[tuple[int, int]]:
    """Yield where a day with a month's name can stand: near a year. The names are too many to be tried everywhere."""
    start = end = 0
    for year in _ANY_YEAR.finditer(text):
        if year.start() - _AROUND_YEAR > end:
            yield start, end
            start = year.start() - _AROUND_YEAR
        end = year.end() + _AROUND_YEAR
    yield start, min(end, len(text))


def _read(
    matches: Iterable[re.Match[str]], parts: Callable[[re.Match[str]], tuple[int, int, int]]
) -> Iterator[FoundDate]:
    for match in matches:
        year, month, day = parts(match)
        try:
            value = date(year, month, day)
        except ValueError:
            continue
        yield FoundDate(match.start(), match.end(), value)


def _named_parts(match: re.Match[str]) -> tuple[int, int, int]:
    for suffix in ("", "2", "3"):
        if month := match[f"month{suffix}"]:
            return int(match[f"year{suffix}"]), _MONTHS[month.lower()], _day_number(match[f"day{suffix}"])
    raise AssertionError("each alternative of the pattern names a month")


def _day_number(written: str) -> int:
    return int(written) if written.isdigit() else _ORDINALS.index(written.lower()) + 1


def _numeric_parts(match: re.Match[str]) -> tuple[int, int, int]:
    if match["y"]:
        return int(match["y"]), int(match["m"]), int(match["d"])
    if match["ey"]:
        return int(match["ey"]), int(match["em"]), int(match["ed"])
    day, month = int(match["a"]), int(match["b"])
    if month > _MONTHS_OF_YEAR >= day:  # day first, unless that is no date
        day, month = month, day
    return _full_year(match["c"]), month, day


def _full_year(written: str) -> int:
    year = int(written)
    if year >= _FIRST_FULL_YEAR:
        return year
    return year + (2000 if year < _PIVOT else 1900)
