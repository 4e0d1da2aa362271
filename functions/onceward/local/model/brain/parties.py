"""Find the parties of an agreement and the roles that it gives them.

Three sorts of evidence, the stronger first: a company's name (capitalised words that end in a legal form) followed by
a defined term in quotes; any name before a defined term in brackets; lines such as "Client: ..." and "X, as Lender".
Only where none of it is found does "between X and Y" count, with the role "party".
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from onceward.local.model.brain.pages import Document
from onceward.local.model.brain.roles import CONNECTIVE, DESCRIPTION, LEGAL_FORM, NO_ROLE, ROLE_WORDS

MAX_PARTIES = 20
_RECITAL = 6_000  # characters from the start in which parties are introduced
_REACH = 400  # characters from a company's name to the term that defines its role
_LONGEST_NAME = 120
_MOST_WORDS = 10

_CAPITAL = "[A-ZÄÖÜÉÈÀÇÁÍÓÚÑØÅ]"
_NEVER_IN_A_NAME = "(?:Zwischen|Between|Among|Entre|Whereas|WHEREAS|BETWEEN|Parties|PARTIES|This|Dieser|The|THE)"
_TOKEN = rf"(?!{_NEVER_IN_A_NAME}\b)(?:{_CAPITAL}|[0-9]+(?= {_CAPITAL}))[\w.&'’+-]*"
_INNER = r"(?:&|and|und|et|y|e|of|for|de|del|du|des|der|van|von|zu|la|le)"
_COMPANY = re.compile(rf"(?<![\w.])(?:{_TOKEN} (?:{_INNER} )?){{0,7}}{_TOKEN},? {LEGAL_FORM}(?![\w(])")
_FORM_FOLLOWS = re.compile(rf" ?{LEGAL_FORM}(?!\w)")
_MARK = re.compile(r"[,;:]|\.(?= )")
_FORM_ENDS = re.compile(rf"{LEGAL_FORM}$")
_OPEN_QUOTE, _CLOSE_QUOTE = '["“”„«»‟]', '["“”»«]'
_ARTICLE = r"(?:(?:the|der|die|das|le|la|el) |l['’])?"
_DEFINED = re.compile(
    rf"{_OPEN_QUOTE}[ \u00a0]?{_ARTICLE}(?P<role>[^\"“”„«»]{{2,60}}?)[ \u00a0]?{_CLOSE_QUOTE}", re.IGNORECASE
)
_BRACKETED = re.compile(rf"\([^()\"“”„«»]{{0,60}}{_DEFINED.pattern}[^()]{{0,40}}\)", re.IGNORECASE)
_OPENER = re.compile(
    r"\b(?:between|among|zwischen|entre|tra|tussen)\b:?|(?:^|[;:.] )\(?(?:[1-9]|[a-d]|i{1,3})[.)] ", re.IGNORECASE
)
_IS_ROLE = re.compile(rf"(?:{ROLE_WORDS})\b", re.IGNORECASE)
_LABEL = re.compile(rf"(?:^|(?<= ))(?P<role>{ROLE_WORDS}) ?: (?=\S)")
_INTRODUCED = "hereinafter|hereafter|henceforth|nachfolgend|nachstehend|ci-après|en adelante|en lo sucesivo"
_PLAIN_ROLE = re.compile(rf"\b(?:{_INTRODUCED}),? (?:the |der |die |le |la |el )?(?P<role>{ROLE_WORDS})\b")
_AS_ROLE = re.compile(rf"^,? ?\(?(?:as|als|en qualité de|en calidad de) (?:the |a )?(?P<role>{ROLE_WORDS})\b")


@dataclass(frozen=True, slots=True)
class FoundParty:
    """A party with the role that the agreement gives it, and where its name stands."""

    start: int
    end: int
    name: str
    role: str


def find_parties(document: Document) -> list[FoundParty]:
    """Return the parties in the order of their first mention; each name and each role once."""
    head = document.text[:_RECITAL]
    found: list[FoundParty] = []
    for source in (_companies(document, head), _before_brackets(document, head), _labelled(document, head)):
        for party in source:
            known = {name.casefold() for one in found for name in (one.name, one.role)}
            if len(found) < MAX_PARTIES and not known & {party.name.casefold(), party.role.casefold()}:
                found.append(party)
    return sorted(found or _between(head), key=lambda party: party.start)


def _companies(document: Document, head: str) -> Iterator[FoundParty]:
    """Read `Acme Foods, Inc., a Delaware corporation (the "Seller")`, whatever stands between name and role."""
    names = [(match.start(), match.end()) for match in _COMPANY.finditer(head)]
    for index, (first, end) in enumerate(names):
        start = max(first, document.sentence_at(end - 1).start)  # a heading above is no part of the name
        limit = min(names[index + 1][0] if index + 1 < len(names) else len(head), end + _REACH)
        role = _role_after(head, end, limit)
        party = _named(start, head[start:end], role) if role else None
        if party is not None:
            yield party


def _role_after(head: str, start: int, limit: int) -> str | None:
    if match := _AS_ROLE.match(head[start:limit]):
        return match["role"]
    if match := _PLAIN_ROLE.search(head, start, limit):
        return match["role"]
    terms = (match["role"].strip(" ,") for match in _DEFINED.finditer(head, start, limit))
    return next((term for term in terms if not NO_ROLE.search(term)), None)


def _before_brackets(document: Document, head: str) -> Iterator[FoundParty]:
    """Read `NAME, description (the "Role")`: the name opens the stretch since the last definition or "between"."""
    previous, introduced = 0, False
    for match in _BRACKETED.finditer(head):
        start = max(previous, document.sentence_at(match.start()).start)
        previous = match.end()
        openers = list(_OPENER.finditer(head, start, match.start()))
        introduced = introduced or bool(openers)
        if NO_ROLE.search(match["role"]) or not (introduced or _IS_ROLE.match(match["role"])):
            continue
        start = openers[-1].end() if openers else start
        party = _named(start, head[start : match.start()], match["role"].strip(" ,"))
        if party is not None:
            yield party


def _labelled(document: Document, head: str) -> Iterator[FoundParty]:
    """Read lines such as `Client: Acme Foods`: a name goes to the end of its sentence or to the next label."""
    labels = list(_LABEL.finditer(head))
    starts = [*(label.start() for label in labels[1:]), len(head)]
    for label, next_start in zip(labels, starts, strict=False):
        end = min(next_start, document.sentence_at(label.start()).end, label.end() + _LONGEST_NAME)
        party = _named(label.end(), head[label.end() : end], label["role"])
        if party is not None:
            yield party


def _between(head: str) -> list[FoundParty]:
    """Read "between X and Y" where no roles are defined."""
    found = re.search(r"\b(?:between|zwischen|entre)\b:? (?P<both>.{5,400}?)(?:\.(?= [A-Z]|$)|;|$)", head)
    if found is None:
        return []
    parties, start = [], found.start("both")
    for stretch in re.split(r"(?<=\S) (?:and|und|et|y) (?=[A-ZÄÖÜÉ])", found["both"])[:2]:
        start = head.find(stretch, start)
        party = _named(start, stretch, "party")
        if party is not None:
            parties.append(party)
    return parties


def _named(start: int, stretch: str, role: str) -> FoundParty | None:
    """Cut the name out of a stretch: after connectives, before whatever describes its bearer."""
    if joiner := CONNECTIVE.match(stretch):
        start, stretch = start + joiner.end(), stretch[joiner.end() :]
    end = _name_end(stretch)
    name = stretch[:end].strip(" ,;:–—-(")
    fits = len(name) in range(2, _LONGEST_NAME) and len(name.split()) <= _MOST_WORDS
    is_name = fits and re.match(rf"{_CAPITAL}|\d+ {_CAPITAL}", name) and re.search(r"[^\W\d]{2}", name)
    return FoundParty(start, start + end, name, role) if is_name else None


def _name_end(stretch: str) -> int:
    """Return where a name ends: a comma that no legal form follows, a stop after a legal form, or a description."""
    description = DESCRIPTION.search(stretch)
    end = description.start() if description else len(stretch)
    for mark in _MARK.finditer(stretch, 0, end):
        goes_on = _FORM_FOLLOWS.match(stretch, mark.end())
        if not goes_on and (mark[0] != "." or _FORM_ENDS.search(stretch[: mark.start()])):
            return mark.start()
    return end
