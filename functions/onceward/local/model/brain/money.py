"""Read sums of money: a number in any common grouping beside a currency, as a decimal and an ISO 4217 code."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from onceward.local.model.brain.numerals import NUMERAL_PATTERN, read_numeral

_CODE = (
    "USD|EUR|GBP|CHF|JPY|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|RON|BGN|INR|CNY|HKD|SGD|KRW|BRL|MXN|ZAR|AED|SAR|ILS|TRY"
    "|THB|IDR|MYR|PHP|VND|ARS|CLP|COP"
)
_SYMBOLS = {
    "US$": "USD", "CA$": "CAD", "C$": "CAD", "AU$": "AUD", "A$": "AUD", "NZ$": "NZD", "HK$": "HKD", "S$": "SGD",
    "MX$": "MXN", "R$": "BRL", "$": "USD", "€": "EUR", "£": "GBP", "CN¥": "CNY", "RMB": "CNY", "¥": "JPY", "₹": "INR",
    "Rs.": "INR", "Rs": "INR", "₩": "KRW", "zł": "PLN", "SFr.": "CHF", "Fr.": "CHF",
}  # fmt: skip
_WORDS = {
    r"canadian dollars?": "CAD", r"australian dollars?": "AUD",
    r"(?:u\.?s\.?[ -]|united states )?dollars?|dollars? américains|dólares(?: estadounidenses)?|dólar": "USD",
    r"euros?": "EUR", r"(?:british )?pounds?(?: sterling)?": "GBP", r"(?:japanese )?yen": "JPY",
    r"swiss francs?|schweizer franken|francs suisses|francos suizos": "CHF", r"(?:indian )?rupees": "INR",
}  # fmt: skip
_SCALES = {
    r"thousand|tausend|mille|mil|k": 1_000,
    r"million(?:s|en)?|mill[oó]n(?:es)?|milion[ei]|milh(?:ões|ão)|mio\.?|mn|mln|m": 1_000_000,
    r"billion|milliarden?|milliards?|mrd\.?|bn": 1_000_000_000,
    r"lakhs?": 100_000,
    r"crores?": 10_000_000,
}
_SPACE = "\u0020\u00a0\u202f\u2009"
_NUMBER = re.compile(
    r"(?<![\d.,'’])(?:"
    r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d{1,2})?(?!\d)"
    r"|[1-9]\d{0,2}(?:\.\d{3})+(?:,\d{1,2})?(?!\d)"
    r"|[1-9]\d{0,2}(?:['’]\d{3})+(?:[.,]\d{1,2})?(?!\d)"
    rf"|[1-9]\d{{0,2}}(?:[{_SPACE}]\d{{3}})+(?:[.,]\d{{1,2}})?(?!\d)"
    r"|[1-9]\d?(?:,\d{2})+,\d{3}(?:\.\d{1,2})?(?!\d)"
    r"|\d{1,15}(?:[.,]\d{1,4})?(?!\d)"
    rf")|{NUMERAL_PATTERN}",
    re.IGNORECASE,
)
_GROUP = re.compile(rf"[,.'’{_SPACE}](?=\d{{3}}(?!\d))|,(?=\d{{2}},)")
_SCALE = re.compile(rf"[ \u00a0-]?(?:{'|'.join(f'({words})' for words in _SCALES)})(?!\w)", re.IGNORECASE)
_FACTORS = tuple(_SCALES.values())
_SYMBOL = "|".join(re.escape(symbol) for symbol in sorted(_SYMBOLS, key=len, reverse=True))
_SYMBOL_CODES = {symbol.casefold(): code for symbol, code in _SYMBOLS.items()}
_WORD = "|".join(f"({words})" for words in _WORDS)
_WORD_CODES = tuple(_WORDS.values())
_BEFORE = re.compile(
    rf"(?<!\w)(?:(?P<code>{_CODE}) ?|(?:{_WORD}) )?(?P<symbol>{_SYMBOL})?[ \u00a0]?(?:of )?$", re.IGNORECASE
)
_AFTER = re.compile(
    rf"(?:[.,][-–—]{{1,2}})?[ \u00a0-]?(?:\([^()]{{1,60}}\) )?(?:in |de |d['’]|\()?"
    rf"(?:(?P<code>{_CODE})(?!\w)|(?:{_WORD})(?!\w)|(?P<symbol>{_SYMBOL})(?!\w))",
    re.IGNORECASE,
)
_TOO_MUCH = 10**15  # no sum of money: a number that stands beside a currency by chance
_LOOK_BACK = 24  # characters: the longest currency before a number, with its spaces


@dataclass(frozen=True, slots=True)
class FoundSum:
    """A sum of money as it stands at [start, end) of a text."""

    start: int
    end: int
    amount: Decimal
    currency: str


def find_sums(text: str) -> Iterator[FoundSum]:
    """Yield every sum of the text in order. A bare "$" is read as US dollars."""
    read_to = 0
    for match in _NUMBER.finditer(text):
        if match.start() < read_to:
            continue  # the scale of the sum before ("5 million euros") is no number of its own
        end, factor = _scale_after(text, match.end())
        before = _BEFORE.search(text, max(read_to, match.start() - _LOOK_BACK), match.start())
        if before is not None and before.lastindex is None:
            before = None  # nothing but a space
        after = _AFTER.match(text, end)
        if after is not None and _belongs_to_next_number(text, match[0], after.end()):
            after = None
        currency = _currency(before, after)
        if currency is None or (match[0][0].isalpha() and after is None):
            continue
        start = before.start() if before is not None else match.start()
        amount = _scaled(_read_number(match[0]), factor)
        if amount >= _TOO_MUCH:
            continue
        read_to = after.end() if after is not None else end
        yield FoundSum(start, read_to, amount, currency)


def _scale_after(text: str, end: int) -> tuple[int, int]:
    scale = _SCALE.match(text, end)
    if scale is None or scale.lastindex is None:
        return end, 1
    return scale.end(), _FACTORS[scale.lastindex - 1]


def _scaled(amount: Decimal, factor: int) -> Decimal:
    """Multiply without leaving places behind: 1.5 million is 1500000, not 1500000.0."""
    scaled = amount * factor
    return scaled if factor == 1 or scaled != scaled.to_integral_value() else scaled.quantize(Decimal(1))


def _belongs_to_next_number(text: str, number: str, end: int) -> bool:
    """A year before "EUR 90 000" (a payment table) is no sum: its currency belongs to what follows."""
    return re.fullmatch(r"(?:19|20)\d{2}", number) is not None and re.match(r" ?\d", text[end : end + 2]) is not None


def _currency(before: re.Match[str] | None, after: re.Match[str] | None) -> str | None:
    """Prefer a written code on either side to a symbol, as "$" alone names many currencies."""
    sides = [side for side in (before, after) if side is not None]
    for side in sides:
        if side["code"]:
            return side["code"].upper()
    for side in sides:
        words = side.groups()[1 : 1 + len(_WORD_CODES)]  # group 1 is the code, the words follow
        if currency := next((code for code, word in zip(_WORD_CODES, words, strict=True) if word), None):
            return currency
    return next((_SYMBOL_CODES[side["symbol"].casefold()] for side in sides if side["symbol"]), None)


def _read_number(written: str) -> Decimal:
    if written[0].isalpha():
        return Decimal(read_numeral(written))
    ungrouped = written if written.startswith("0") else _GROUP.sub("", written)
    return Decimal(ungrouped.replace(",", "."))
