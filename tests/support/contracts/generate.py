"""Make a contract from a seed: facts are drawn, worded, laid out as a PDF, and returned beside it."""

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from random import Random
from string import Formatter

from tests.support.contracts.expected import Expected
from tests.support.contracts.layout import SIZES, Contract, Page, render
from tests.support.contracts.spelling import (
    DAYS,
    HELD_OUT_DAYS,
    HELD_OUT_MONIES,
    MONIES,
    TERSE_DAYS,
    TERSE_MONIES,
    Day,
    Money,
)
from tests.support.contracts.wording import Clause, Wording, read_wording

__all__ = ["Expected", "generate"]

# Ten seeds in a row hold six English contracts (two of them terse), two German, one French and one Spanish.
_WORDINGS = (
    "english", "german", "terse", "french", "english", "english", "german", "terse", "spanish", "english",
)  # fmt: skip
_HELD_OUT = "held_out"
_NAMES = (
    "Northwind", "Blue Heron", "Kestrel & Sons", "Aurora", "Van Dalen", "Müller-Brandt", "Société Lumière",
    "Ironbridge", "Pacific Crest", "Oakfield", "Delta Nine", "St. Clair", "Quantum Harbour", "Garcia y Lopez",
    "O’Leary", "Zephyr",
)  # fmt: skip
_TRADES = ("Analytics", "Logistics", "Foods", "Engineering", "Software", "Textiles", "Energy", "Instruments", "Media")
_FORMS = {
    "en": ("Ltd", "Inc.", ", Inc.", "LLC", "plc", "LLP", "Pty Ltd", "GmbH"),
    "de": ("GmbH", "AG", "GmbH & Co. KG", "KG", "SE"),
    "fr": ("SAS", "SARL", "S.A."),
    "es": ("S.A.", "S.L.", "S.L.U."),
}
_CURRENCIES = ("EUR", "USD", "GBP", "CHF")
_HEADERS = ("", "Confidential", "{title}", "Contract no. {number} / page {{page}}", "{title} - draft of the parties")
_FOOTERS = ("Page {page}", "{page}", "- {page} -", "Initials: ______        {page}")


class _Facts(dict[str, str]):
    """Slots of a contract: the first use of a `day_` or `sum_` slot draws its fact and remembers it as expected."""

    def __init__(self, draw: Random, names: dict[str, str], days: Sequence[Day], monies: Sequence[Money]) -> None:
        super().__init__(names)
        self._draw, self._days, self._monies = draw, days, monies
        self._currency = draw.choice(_CURRENCIES)
        self._style: Day | None = draw.choice(days) if draw.random() < 0.5 else None  # one hand, or many hands
        self.days: list[date] = []
        self.sums: list[tuple[Decimal, str]] = []

    def __missing__(self, slot: str) -> str:
        self[slot] = self._day() if slot.startswith("day_") else self._sum()
        return self[slot]

    def _day(self) -> str:
        day = date(2024, 1, 1) + timedelta(days=self._draw.randrange(2_400))
        self.days.append(day)
        return (self._style or self._draw.choice(self._days))(day)

    def _sum(self) -> str:
        size = self._draw.choice((100, 1_000, 50_000, 1_000_000))
        amount = Decimal(self._draw.randrange(11, 99) * size) / (10 if size == 1_000_000 else 1)
        if size == 100 and self._draw.random() < 0.5:
            amount += Decimal(self._draw.randrange(1, 99)) / 100
        self.sums.append((amount, self._currency))
        return self._draw.choice(self._monies)(amount, self._currency)


def generate(seed: int, *, held_out: bool = False) -> tuple[bytes, Expected]:
    """Return a contract's PDF and its known facts; `held_out` takes wording and formats the analyser never saw."""
    draw = Random(f"{seed}/{held_out}")
    wording = read_wording(_HELD_OUT if held_out else _WORDINGS[seed % len(_WORDINGS)])
    customer, supplier = draw.choice(wording.roles)
    customer_name, supplier_name = _two_names(draw, wording.language)
    names = {
        "customer": customer, "supplier": supplier, "customer_name": customer_name, "supplier_name": supplier_name,
    }  # fmt: skip
    facts = _Facts(draw, names, *_formats(wording))
    title = draw.choice(wording.titles)
    chosen = [(heading, draw.choice(clauses)) for heading, clauses in wording.topics]
    blocks = _blocks(draw, wording, chosen, facts)
    expected = Expected(
        title=title,
        language=wording.language,
        parties=((customer_name, customer), (supplier_name, supplier)),
        dates=tuple(facts.days),
        amounts=tuple(facts.sums),
        obligations=tuple(
            ((names[clause.duty[0]], names[f"{clause.duty[0]}_name"]), clause.duty[1])
            for _, clause in chosen
            if clause.duty
        ),
        risks=tuple(clause.risk for _, clause in chosen if clause.risk),
    )
    return render(Contract(title=title, blocks=tuple(blocks), page=_page(draw, title))), expected


def _formats(wording: Wording) -> tuple[Sequence[Day], Sequence[Money]]:
    if wording.name == _HELD_OUT:
        return HELD_OUT_DAYS, HELD_OUT_MONIES
    if wording.name == "terse":
        return TERSE_DAYS, TERSE_MONIES
    return DAYS[wording.language], MONIES[wording.language]


def _blocks(draw: Random, wording: Wording, chosen: list[tuple[str, Clause]], facts: _Facts) -> list[str]:
    """Word the contract; fillers of chance length push page breaks into the middle of clauses."""
    fill = Formatter().vformat
    blocks = [fill(draw.choice(wording.openings), (), facts)]
    numbered = draw.choice(("{n}. {heading}", "# {n}. {heading}", "# {heading}", "# § {n} {heading}"))
    for number, (heading, clause) in enumerate(chosen, start=1):
        head = numbered.format(n=number, heading=heading)
        text = fill(clause.text, (), facts)
        if draw.random() < 0.5:  # before or after, so that facts stand anywhere in a paragraph
            text = " ".join(draw.sample([text, draw.choice(wording.filler)], 2))
        blocks += [head, f"{number}.1 {text}"] if head.startswith("#") else [f"{head}. {text}"]
        blocks += [draw.choice(wording.filler) for _ in range(draw.randrange(1, 5))]
    return [*blocks, fill(wording.signature, (), facts)]


def _two_names(draw: Random, language: str) -> tuple[str, str]:
    first, second = draw.sample(_NAMES, 2)
    return _name(draw, first, language), _name(draw, second, language)


def _name(draw: Random, core: str, language: str) -> str:
    form = draw.choice(_FORMS[language])
    trade = f" {draw.choice(_TRADES)}" if draw.random() < 0.7 else ""
    return f"{core}{trade}{'' if form.startswith(',') else ' '}{form}"


def _page(draw: Random, title: str) -> Page:
    header = draw.choice(_HEADERS).format(title=title, number=draw.randrange(1_000, 9_999))
    return Page(
        size=draw.choice(tuple(SIZES.values())),
        font=draw.choice(("Helvetica", "Times-Roman")),
        points=draw.choice((10.0, 11.0, 12.0)),
        margin_mm=draw.choice((22.0, 30.0, 36.0)),
        header=header,
        footer=draw.choice(_FOOTERS),
        edges_first=draw.random() < 0.5,
    )
