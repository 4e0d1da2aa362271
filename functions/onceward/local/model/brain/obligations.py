"""Find who must do what: a party as the subject of shall, must, agrees to, undertakes to, and their like."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from onceward.local.model.brain.pages import Document, Span, clip_around
from onceward.local.model.brain.parties import FoundParty
from onceward.local.model.brain.roles import ROLE_WORDS
from onceward.local.model.brain.vocabulary import any_of

_MAX_WHAT = 240  # characters
_REACH_AFTER = 120  # characters after the modal in which a passive's bearer is looked for
_NOT = "(?: not(?! later))?"  # "shall not later than" forbids nothing
_MODAL = re.compile(
    r"\b(?:"
    + any_of(
        f"shall{_NOT}/must{_NOT}/may not/will{_NOT}/agrees? (?:not )?to/undertakes? (?:not )?to/covenants? (?:not )?to"
        "/commits? to"
        "/(?:is|are) (?:obliged|obligated|required|bound|responsible)(?: to| for)/has the obligation to"
        "/muss/müssen/verpflichtet sich/verpflichten sich/(?:ist|sind) verpflichtet/schuldet/hat/haben/wird/darf/dürfen"
    )
    + "|"
    + any_of(
        "doit/doivent/devra/devront/s['’](?:engage|engagent|oblige|obligent) à/(?:est|sont) tenue?s? (?:de|à)"
        "/deberá/deberán/debe/deben/se obligan? a/se comprometen? a/está obligad[oa] a/están obligad[oa]s a"
        "/dovrà/dovranno/deve/devono/si impegna a/si impegnano a/moet/moeten/zal/zullen/verbindt zich/deverá/deverão"
    )
    + r")(?!\w)",
    re.IGNORECASE,
)
_WEAK = re.compile("(?:will(?: not)?|hat|haben|wird)$", re.IGNORECASE)  # future or perfect, unless its subject is near
_NO_DUTY = re.compile(
    r"(?: not)? (?:be (?:liable|entitled|governed|deemed|construed|effective)|mean|have the right"
    r"|have no (?:liab|oblig)\w+|das Recht|haftet|le droit|el derecho)",
    re.IGNORECASE,
)
_COLLECTIVE = re.compile(
    r"\b(?:each|either|neither|both|the|jede|beide|die|chaque|les|cada|las|ambas) (?:of the )?(?:vertrags)?"
    r"(?:party|parties|partei|parteien|partie|parte|partes)\b",
    re.IGNORECASE,
)
_SUBJECT_NEAR = re.compile(
    "^ (?:der |die |das |le |la |el )?$|\\b(?:by|durch|von|par|por) (?:the |den |die |der |le |la |el )?$",
    re.IGNORECASE,
)
_CLOSE = 30  # characters before a weak modal: "the Supplier will"
_FAR = 240  # before a strong one: "the Supplier, acting with due care and at its own cost, shall"


@dataclass(frozen=True, slots=True)
class FoundDuty:
    """Who is bound to what, with the stretch of its modal words."""

    start: int
    end: int
    who: str
    what: str


def find_obligations(document: Document, parties: list[FoundParty]) -> Iterator[FoundDuty]:
    """Yield the duties of parties, one a sentence; "this Agreement shall be governed by" binds nobody to an act."""
    subjects = _subject_pattern(parties)
    for sentence in document.sentences:
        found = _duty_in(document, sentence, subjects)
        if found is not None:
            yield found


def _subject_pattern(parties: list[FoundParty]) -> re.Pattern[str]:
    """Match the parties' names and roles; where none were found, the usual role words."""
    names = {re.escape(name) for party in parties for name in (party.name, party.role) if len(name) > 1}
    words = "|".join(sorted(names, key=len, reverse=True)) or ROLE_WORDS
    return re.compile(rf"\b(?:{words})s?\b", re.IGNORECASE)  # s: "des Auftragnehmers" is the same party


def _duty_in(document: Document, sentence: Span, subjects: re.Pattern[str]) -> FoundDuty | None:
    text = document.text[sentence.start : sentence.end]
    for modal in _MODAL.finditer(text):
        reach = _CLOSE if _WEAK.match(modal[0]) else _FAR
        who = _last_subject(text[max(0, modal.start() - reach) : modal.start()], subjects)
        who = who or _subject_after(text[modal.end() : modal.end() + _REACH_AFTER], subjects)
        if who is None or _NO_DUTY.match(text, modal.end()):
            continue
        what = clip_around(text[modal.end() :].strip(" ,:"), 0, 0, _MAX_WHAT).rstrip(".;,")
        if what:
            return FoundDuty(sentence.start + modal.start(), sentence.start + modal.end(), who, what)
    return None


def _last_subject(before: str, subjects: re.Pattern[str]) -> str | None:
    found = [match for pattern in (subjects, _COLLECTIVE) for match in pattern.finditer(before)]
    return max(found, key=lambda match: match.start())[0] if found else None


def _subject_after(after: str, subjects: re.Pattern[str]) -> str | None:
    """Read "hat der Auftragnehmer zu ..." and the passive "must be delivered by the Supplier"."""
    for match in subjects.finditer(after):
        if _SUBJECT_NEAR.search(after[: match.start()]):
            return match[0]
    return None
