"""Find clauses that carry risk by their key words, and grade them by a table."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from onceward.local.model.brain.pages import Document, clip_around
from onceward.local.model.brain.vocabulary import any_of

_MAX_WHAT = 240  # characters
_FEWEST_SPACES = 4  # fewer words are a heading


class Severity(StrEnum):
    """How much a clause of this sort may cost its reader."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


# The first row that matches a sentence names it, so the gravest come first.
_TABLE = (
    (Severity.HIGH, "Indemnity", "indemnif/indemnit/hold harmless/freistell/schadlos/garantira? contre/indemniza"),
    (Severity.HIGH, "Unlimited liability", r"unlimited liabil/liability .{0,40}\bunlimited/unbeschränkte? haft"),
    (
        Severity.HIGH,
        "Penalty",
        r"penalt/liquidated damages/vertragsstraf/pönale/pénalité/clause pénale/penalizaci/cláusula penal/\bpenale\b",
    ),
    (
        Severity.HIGH,
        "Termination without cause",
        r"terminat\w* .{0,60}\b(?:for convenience|without cause|at any time|immediate)/fristlos",
    ),
    (Severity.HIGH, "Breach", r"breach/in default\b/event of default/vertragsverletzung/manquement/incumplimiento"),
    (
        Severity.MEDIUM,
        "Automatic renewal",
        r"auto(?:matic(?:ally)?)?[- ]?(?:renew|extend)/renew\w* automatic/verlängert sich/tacite reconduction/prórroga",
    ),
    (Severity.MEDIUM, "Liability", r"liabilit/\bliable\b/haftung/haftet/responsabilité/responsabilidad/responsable\b"),
    (Severity.MEDIUM, "Termination", "terminat/kündig/résili/rescisi/resolución/rescind/recesso/opzeg"),
    (
        Severity.MEDIUM,
        "Late payment",
        r"late payment/default interest/interest .{0,60}\b(?:overdue|late|unpaid)/verzug/intérêts de retard/de demora",
    ),
    (Severity.MEDIUM, "Exclusivity", "exclusiv/non-compet/wettbewerbsverbot/exklusiv"),
    (
        Severity.MEDIUM,
        "Price change",
        r"(?:increase|adjust)\w* .{0,40}\b(?:fee|price|charge)s?/preisanpassung/révision d\w+ prix",
    ),
    (Severity.LOW, "Confidentiality", "confidential/vertraulich/geheimhalt"),
    (Severity.LOW, "Force majeure", "force majeure/höhere gewalt/fuerza mayor"),
    (Severity.LOW, "Jurisdiction", "governing law/governed by/jurisdiction/gerichtsstand/tribunaux/tribunales"),
)
_PATTERNS = tuple((severity, label, re.compile(any_of(words), re.IGNORECASE)) for severity, label, words in _TABLE)


@dataclass(frozen=True, slots=True)
class FoundRisk:
    """A risky clause, named and graded, with the stretch of its key words."""

    start: int
    end: int
    what: str
    severity: Severity


def find_risks(document: Document) -> Iterator[FoundRisk]:
    """Yield at most one risk a sentence; a bare heading ("Termination") is none."""
    for sentence in document.sentences:
        text = document.text[sentence.start : sentence.end]
        if text.count(" ") < _FEWEST_SPACES:
            continue
        for severity, label, pattern in _PATTERNS:
            if match := pattern.search(text):
                what = f"{label}: {clip_around(text, match.start(), match.end(), _MAX_WHAT)}"
                yield FoundRisk(sentence.start + match.start(), sentence.start + match.end(), what, severity)
                break
