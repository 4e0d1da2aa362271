"""Spell each condition of a write as a DynamoDB condition expression; what it means is its ``holds``.

One small function per condition. Comparing an attribute that is absent is false, as in ``holds``; where absence
counts as true it is asked for. A test runs every condition both ways, here and by ``holds``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from onceward.adapters.dynamodb.expressions import Placeholders
from onceward.adapters.dynamodb.row_codec import COLUMNS
from onceward.adapters.dynamodb.shapes import encode
from onceward.adapters.instants import seconds_passed
from onceward.domain.conditions import (
    UNDER_WAY,
    BeforeDeadline,
    Condition,
    HasAttemptsLeft,
    HasParticipants,
    HeldBy,
    InFlight,
    IsJob,
    IsJoinable,
    IsKnown,
    IsLookable,
    IsOrphaned,
    IsResumable,
    IsStartable,
    LeaseEndsBefore,
    NoCancel,
    NotExpired,
    SeenAt,
    SeenDue,
    SeenJournals,
    SeenLease,
)
from onceward.domain.states import JobState, ProviderCancel, WaitingFor

NEVER: Final = "attribute_not_exists(pk)"  # false of every row that is there, and only such a row is written


class RowTerms(Placeholders):
    """The terms that conditions are made of, in fields of the row."""

    def field(self, field: str) -> str:
        """Stand for a field of the row."""
        return self.name(COLUMNS[field].name)

    def compare(self, field: str, operator: str, value: object) -> str:
        """Compare a field with a value; one that is stored as absent is compared by absence."""
        encoded = encode(COLUMNS[field], value)
        if encoded is None:
            return f"attribute_not_exists({self.field(field)})"
        return f"{self.field(field)} {operator} {self.value(encoded)}"

    def equals(self, field: str, value: object) -> str:
        """Compare for equality."""
        return self.compare(field, "=", value)

    def exists(self, field: str) -> str:
        """Ask whether a field has a value."""
        return f"attribute_exists({self.field(field)})"


def _is_job(condition: IsJob, row: RowTerms) -> str:
    return row.equals("job_id", condition.job_id)


def _is_known(condition: IsKnown, row: RowTerms) -> str:
    known = _any_of(
        _all_of((row.equals("kind", one.kind), row.compare("kind_version", "<=", one.version)))
        for one in condition.limits
    )
    return _all_of((known, row.compare("schema_version", "<=", condition.schema_version)))


def _is_orphaned(condition: IsOrphaned, row: RowTerms) -> str:
    ends = ("deadline_at", "cancel_requested_at", "review_until")
    over = _any_of(row.compare(field, "<=", condition.since) for field in ends)
    return _all_of((over, row.compare("schema_version", "<=", condition.schema_version)))


def _has_attempts_left(condition: HasAttemptsLeft, row: RowTerms) -> str:
    return _any_of(
        _all_of((row.equals("kind", one.kind), row.compare("attempts", "<", one.max_attempts)))
        for one in condition.limits
    )


def _is_startable(condition: IsStartable, row: RowTerms) -> str:
    is_retry = (row.equals("state", JobState.WAITING), row.equals("waiting_for", WaitingFor.RETRY))
    awake = row.compare("wake_at", "<=", condition.now)
    return _any_of((row.equals("state", JobState.QUEUED), _all_of((*is_retry, awake))))


def _is_resumable(condition: IsResumable, row: RowTerms) -> str:
    for_nothing = f"attribute_not_exists({row.field('waiting_for')})"
    no_retry = _any_of((for_nothing, row.compare("waiting_for", "<>", WaitingFor.RETRY)))
    awake = _any_of((row.compare("wake_at", "<=", condition.now), row.exists("cancel_requested_at")))
    return _all_of((row.equals("state", JobState.WAITING), no_retry, awake))


def _is_lookable(condition: IsLookable, row: RowTerms) -> str:
    unheard = _all_of((row.exists("cancel_requested_at"), row.equals("provider_cancel", ProviderCancel.NONE)))
    awake = _any_of((row.compare("wake_at", "<=", condition.now), unheard))
    return _all_of((row.equals("state", JobState.NEEDS_REVIEW), awake))


def _held_by(condition: HeldBy, row: RowTerms) -> str:
    return _all_of((row.equals("state", JobState.RUNNING), row.equals("run_token", condition.token)))


def _lease_ends_before(condition: LeaseEndsBefore, row: RowTerms) -> str:
    return row.compare("lease_until", "<", condition.lease_until)


def _seen_lease(condition: SeenLease, row: RowTerms) -> str:
    held = (row.equals("state", JobState.RUNNING), row.equals("run_token", condition.token))
    return _all_of((*held, row.equals("lease_until", condition.lease_until)))


def _seen_at(condition: SeenAt, row: RowTerms) -> str:
    moved = (row.equals("epoch", condition.epoch), row.equals("seq", condition.seq))
    return _all_of((row.equals("state", condition.state), *moved))


def _seen_journals(condition: SeenJournals, row: RowTerms) -> str:
    return row.equals("journals", condition.journals)


def _seen_due(condition: SeenDue, row: RowTerms) -> str:
    return _all_of((row.equals("due", condition.due), row.equals("run_token", condition.token)))


def _no_cancel(_condition: NoCancel, row: RowTerms) -> str:
    return f"attribute_not_exists({row.field('cancel_requested_at')})"


def _before_deadline(condition: BeforeDeadline, row: RowTerms) -> str:
    return row.compare("deadline_at", ">", condition.now)


def _not_expired(condition: NotExpired, row: RowTerms) -> str:
    # Stored in whole seconds: later than now exactly if later than now's own second.
    return f"{row.field('expires_at')} > {row.value(seconds_passed(condition.now))}"


def _is_joinable(condition: IsJoinable, row: RowTerms) -> str:
    under_way = _any_of(row.equals("state", state) for state in UNDER_WAY)
    no_review = f"attribute_not_exists({row.field('review_until')})"
    return _all_of((row.compare("participants", "<", condition.most), under_way, no_review))


def _has_participants(_condition: HasParticipants, row: RowTerms) -> str:
    return row.compare("participants", ">", 0)


def _in_flight(condition: InFlight, row: RowTerms) -> str:
    waits = _all_of((row.equals("state", JobState.WAITING), row.equals("waiting_for", WaitingFor.FLIGHT)))
    free = _any_of((waits, row.equals("state", JobState.NEEDS_REVIEW)))
    return _all_of((row.equals("flight", condition.flight), free))


SPELLINGS: Final[Mapping[type, Callable[[Any, RowTerms], str]]] = {
    IsJob: _is_job,
    IsKnown: _is_known,
    IsOrphaned: _is_orphaned,
    HasAttemptsLeft: _has_attempts_left,
    IsStartable: _is_startable,
    IsResumable: _is_resumable,
    IsLookable: _is_lookable,
    HeldBy: _held_by,
    LeaseEndsBefore: _lease_ends_before,
    SeenLease: _seen_lease,
    SeenAt: _seen_at,
    SeenJournals: _seen_journals,
    SeenDue: _seen_due,
    NoCancel: _no_cancel,
    BeforeDeadline: _before_deadline,
    NotExpired: _not_expired,
    IsJoinable: _is_joinable,
    HasParticipants: _has_participants,
    InFlight: _in_flight,
}


def all_hold(conditions: Iterable[Condition], row: RowTerms) -> str:
    """The row is there, and all of them are true of it; an absent row satisfies no condition, not even NoCancel."""
    return " AND ".join(("attribute_exists(pk)", *(SPELLINGS[type(one)](one, row) for one in conditions)))


def _all_of(terms: Iterable[str]) -> str:
    return _joined(" AND ", tuple(terms))


def _any_of(terms: Iterable[str]) -> str:
    """True if one term is; of none, never."""
    return _joined(" OR ", (*terms,) or (NEVER,))


def _joined(operator: str, terms: tuple[str, ...]) -> str:
    """In brackets, unless there is only one: DynamoDB refuses brackets that bracket nothing."""
    return f"({operator.join(terms)})" if len(terms) > 1 else terms[0]
