"""How generated contracts are worded: texts with slots, the duties they lay on a party, the risk they hold.

The texts stand in `wordings/`. Slots: {customer} {supplier} stand for the role words; {customer_name} {supplier_name}
for the names; every other slot starts with `day_` or `sum_` and is filled with a fact that the analysis must find.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

_WORDINGS = Path(__file__).with_name("wordings")


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One wording of a clause. A duty is (`customer` or `supplier`, words that stand in it); a risk is its words."""

    text: str
    duty: tuple[str, str] | None = None
    risk: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """One hand's contract: titles, role words, and for each topic its heading and the clauses to choose from."""

    name: str
    language: str
    titles: tuple[str, ...]
    roles: tuple[tuple[str, str], ...]  # (customer, supplier)
    openings: tuple[str, ...]
    topics: tuple[tuple[str, tuple[Clause, ...]], ...]
    filler: tuple[str, ...]
    signature: str


def read_wording(name: str) -> Wording:
    """Read `wordings/<name>.toml`."""
    table = tomllib.loads((_WORDINGS / f"{name}.toml").read_text(encoding="utf-8"))
    topics = tuple(
        (topic["heading"], tuple(_clause(**clause) for clause in topic["clauses"])) for topic in table["topics"]
    )
    roles = tuple((customer, supplier) for customer, supplier in table["roles"])
    return Wording(
        name=name,
        language=table["language"],
        titles=tuple(table["titles"]),
        roles=roles,
        openings=tuple(table["openings"]),
        topics=topics,
        filler=tuple(table["filler"]),
        signature=table["signature"],
    )


def _clause(text: str, duty: tuple[str, str] | None = None, risk: str | None = None) -> Clause:
    return Clause(text=text, duty=(duty[0], duty[1]) if duty else None, risk=risk)
