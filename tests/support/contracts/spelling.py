"""Write days and sums in the many ways contracts do, by language."""

from collections.abc import Callable
from datetime import date
from decimal import Decimal

_MONTHS = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
}
_SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£"}
_WORDS = {
    "en": {"USD": "US dollars", "EUR": "euros", "GBP": "pounds sterling", "CHF": "Swiss francs"},
    "de": {"USD": "US-Dollar", "EUR": "Euro", "GBP": "GBP", "CHF": "Schweizer Franken"},
    "fr": {"USD": "dollars américains", "EUR": "euros", "GBP": "GBP", "CHF": "francs suisses"},
    "es": {"USD": "dólares", "EUR": "euros", "GBP": "GBP", "CHF": "francos suizos"},
}

type Day = Callable[[date], str]
type Money = Callable[[Decimal, str], str]


def month(day: date, language: str) -> str:
    """Name a day's month."""
    return _MONTHS[language].split()[day.month - 1]


def ordinal(number: int) -> str:
    """Write 1st, 2nd, 3rd, 4th."""
    suffix = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


DAYS: dict[str, tuple[Day, ...]] = {
    "en": (
        lambda day: f"{day.day} {month(day, 'en')} {day.year}",
        lambda day: f"{month(day, 'en')} {day.day}, {day.year}",
        lambda day: f"{ordinal(day.day)} {month(day, 'en')} {day.year}",
        lambda day: day.isoformat(),
        lambda day: f"{day.day:02}/{day.month:02}/{day.year}",
        lambda day: f"{day.day} {month(day, 'en')[:3]} {day.year}",
        lambda day: f"the {ordinal(day.day)} day of {month(day, 'en')}, {day.year}",
        # month first, where that is the only reading; else as above
        lambda day: (
            f"{day.month:02}/{day.day:02}/{day.year}" if day.day > 12 else f"{month(day, 'en')} {day.day}, {day.year}"
        ),
    ),
    "de": (
        lambda day: f"{day.day}. {month(day, 'de')} {day.year}",
        lambda day: f"{day.day:02}.{day.month:02}.{day.year}",
        lambda day: f"{day.day}.{day.month}.{day.year}",
    ),
    "fr": (
        lambda day: f"{'1er' if day.day == 1 else day.day} {month(day, 'fr')} {day.year}",
        lambda day: f"{day.day:02}/{day.month:02}/{day.year}",
    ),
    "es": (
        lambda day: f"{day.day} de {month(day, 'es')} de {day.year}",
        lambda day: f"{day.day:02}/{day.month:02}/{day.year}",
    ),
}
TERSE_DAYS: tuple[Day, ...] = (
    lambda day: f"{month(day, 'en')[:3].upper()} {day.day}, {day.year}",
    lambda day: f"{day.day}-{month(day, 'en')[:3]}-{day.year}",
    lambda day: f"{month(day, 'en')} {ordinal(day.day)}, {day.year}",
    lambda day: f"this {ordinal(day.day)} of {month(day, 'en')} {day.year}",
    lambda day: f"{day.year}/{day.month:02}/{day.day:02}",
    lambda day: f"{day:%A}, {day.day} {month(day, 'en')} {day.year}",
)


def grouped(amount: Decimal, separator: str, point: str, places: int) -> str:
    """Write a number with its groups of three."""
    text = f"{amount:,.{places}f}"
    return text.replace(",", "\0").replace(".", point).replace("\0", separator)


def _places(amount: Decimal) -> int:
    return 0 if amount == amount.to_integral_value() else 2


def _millions(amount: Decimal, point: str) -> str | None:
    """Write a sum in millions where that is exact to one place; else None."""
    millions = amount / 1_000_000
    exact = millions >= 1 and millions * 10 == (millions * 10).to_integral_value()
    return f"{millions.normalize():f}".replace(".", point) if exact else None


def _in_millions(amount: Decimal, currency: str, language: str) -> str:
    point, word = {"en": (".", "million"), "de": (",", "Millionen"), "fr": (",", "millions"), "es": (",", "millones")}[
        language
    ]
    millions = _millions(amount, point)
    if millions is None:
        return f"{currency} {grouped(amount, ',' if point == '.' else '.', point, 2)}"
    of = {"fr": " d’" if _WORDS["fr"][currency][0] == "e" else " de ", "es": " de "}.get(language, " ")
    return f"{millions} {word}{of}{_WORDS[language][currency]}"


MONIES: dict[str, tuple[Money, ...]] = {
    "en": (
        lambda amount, currency: f"{currency} {grouped(amount, ',', '.', 2)}",
        lambda amount, currency: (
            f"{_SYMBOLS.get(currency, currency + ' ')}{grouped(amount, ',', '.', _places(amount))}"
        ),
        lambda amount, currency: f"{grouped(amount, ',', '.', 2)} {currency}",
        lambda amount, currency: f"{currency} {grouped(amount, ' ', '.', _places(amount))}",
        lambda amount, currency: f"{grouped(amount, ',', '.', _places(amount))} {_WORDS['en'][currency]}",
        lambda amount, currency: _in_millions(amount, currency, "en"),
    ),
    "de": (
        lambda amount, currency: f"{grouped(amount, '.', ',', 2)} {currency}",
        lambda amount, currency: f"{currency} {grouped(amount, '.', ',', _places(amount))}",
        lambda amount, currency: f"{grouped(amount, '.', ',', 2)} {_SYMBOLS.get(currency, currency)}",
        lambda amount, currency: f"{grouped(amount, '.', ',', _places(amount))} {_WORDS['de'][currency]}",
        lambda amount, currency: _in_millions(amount, currency, "de"),
    ),
    "fr": (
        lambda amount, currency: f"{grouped(amount, ' ', ',', 2)} {_SYMBOLS.get(currency, currency)}",
        lambda amount, currency: f"{grouped(amount, ' ', ',', _places(amount))} {_WORDS['fr'][currency]}",
        lambda amount, currency: _in_millions(amount, currency, "fr"),
    ),
    "es": (
        lambda amount, currency: f"{grouped(amount, '.', ',', 2)} {_SYMBOLS.get(currency, currency)}",
        lambda amount, currency: f"{grouped(amount, '.', ',', _places(amount))} {_WORDS['es'][currency]}",
        lambda amount, currency: _in_millions(amount, currency, "es"),
    ),
}
TERSE_MONIES: tuple[Money, ...] = (
    lambda amount, currency: f"{currency} {grouped(amount, '’', '.', 2)}",
    lambda amount, currency: f"{currency}{grouped(amount, ',', '.', _places(amount))}",
    lambda amount, currency: f"{_SYMBOLS.get(currency, currency)} {grouped(amount, ',', '.', 2)}",
    lambda amount, currency: (
        f"{_SYMBOLS.get(currency, currency)}{_millions(amount, '.')}m"
        if _millions(amount, ".")
        else f"{currency} {grouped(amount, '.', ',', 2)}"
    ),
    lambda amount, currency: f"{grouped(amount, ' ', ',', 2)} {currency}",
)

# Formats that the analyser was not made with; see wordings/held_out.toml.
HELD_OUT_DAYS: tuple[Day, ...] = (
    lambda day: f"{day.day:02}-{day.month:02}-{day.year}",
    lambda day: f"{day.day}/{day.month}/{day.year % 100:02}",
    lambda day: f"{month(day, 'en')} the {ordinal(day.day)}, {day.year}",
    lambda day: f"the {ordinal(day.day)} of {month(day, 'en')} in the year {day.year}",
    lambda day: f"{day.year}.{day.month:02}.{day.day:02}",
    lambda day: f"{day:%a} {day.day} {month(day, 'en')[:3]}. {day.year}",
    lambda day: f"{day.day:02} {month(day, 'en').upper()} {day.year}",
)
HELD_OUT_MONIES: tuple[Money, ...] = (
    lambda amount, currency: f"{grouped(amount, ',', '.', _places(amount))} ({currency})",
    lambda amount, currency: f"{_WORDS['en'][currency]} {grouped(amount, ',', '.', 2)}",
    lambda amount, currency: f"{grouped(amount, ',', '.', 2)}{_SYMBOLS.get(currency, ' ' + currency)}",
    lambda amount, currency: f"{currency} {grouped(amount, ',', '.', _places(amount))}.-",
    lambda amount, currency: f"{currency}\u00a0{grouped(amount, chr(0xA0), ',', _places(amount))}",
    lambda amount, currency: f"the sum of {grouped(amount, ',', '.', _places(amount))} in {currency}",
)
