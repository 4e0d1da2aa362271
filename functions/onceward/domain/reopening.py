"""Re-opening an exhausted job: a new epoch, deliberately, by its dead letter.

A letter that comes back through the jobs queue carries the epoch it was written for. It re-opens its job only if that
is still the row's epoch and the row ended exhausted; the write moves the epoch, so a second copy of the letter, or one
that comes late, finds another epoch and changes nothing (invariant 15). What was accepted stays accepted, what was
spent stays spent; attempts, losses and the deadline begin anew.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from onceward.domain.approving import first_standing
from onceward.domain.change import Counts, Fields, RowChange
from onceward.domain.conditions import IsJob, IsKnown, KindLimit, NotExpired, SeenAt
from onceward.domain.job import SCHEMA_VERSION, Job, OpenCall
from onceward.domain.ledger import Account, Entry, Verb, reserve
from onceward.domain.names import RunToken
from onceward.domain.policy import KindPolicy
from onceward.domain.sweep import is_exhausted
from onceward.domain.timing import EXPIRY_MARGIN, Timing
from onceward.domain.transaction import AddEntry, ChangeAccount, Op, UpdateRow

BUDGET_EXCEEDED = "budget_exceeded"  # the reason of a letter that goes back because the account refused


class Redrive(StrEnum):
    """What became of a dead letter that came back."""

    REOPENED = "reopened"
    CHANGED_NOTHING = "changed_nothing"
    UNKNOWN_CODE = "unknown_code"
    BUDGET_REFUSED = "budget_refused"
    NOT_ANSWERED = "not_answered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reopening:
    """Who re-opens, and when: ``token`` is made before the write, so that our own write is known by it."""

    token: RunToken
    now: datetime
    timing: Timing


def decide_redrive(seen: Job | None, job_id: str, epoch: int, limits: tuple[KindLimit, ...], now: datetime) -> Redrive:
    """Whether a letter of ``epoch`` may re-open the row as it was read (``REOPENED``), or what it comes to instead.

    A job whose row may soon vanish is left alone: its new deadline would lie in the past.
    """
    if seen is None or seen.job_id != job_id or seen.expires_at - EXPIRY_MARGIN <= now:
        return Redrive.CHANGED_NOTHING
    if not is_exhausted(seen) or seen.epoch != epoch or seen.erased_at is not None or seen.is_flight:
        return Redrive.CHANGED_NOTHING
    return Redrive.REOPENED if IsKnown(limits, SCHEMA_VERSION).holds(seen) else Redrive.UNKNOWN_CODE


def reopen_ops(
    seen: Job, policy: KindPolicy, account: Account | None, who: Reopening, carried: tuple[OpenCall, ...] = ()
) -> tuple[Op, ...]:
    """The one transaction: the row in its next epoch and, if the tenant has an account, the new reservation.

    The present attempt has been put as its item before. ``carried``: calls of the last epoch of which nobody knows
    what they did; what they and the sends before them may have cost was booked when it ended.
    """
    tariff = None if account is None else policy.tariff_micro_usd
    change = _reopened(seen, policy, tariff, who)
    change.set["open"] = tuple(replace(call, max_cost=0, repeats=None) for call in carried)
    row = UpdateRow(seen.tenant_id, seen.job_id, change)
    if tariff is None:
        return (row,)
    entry = Entry(
        tenant_id=seen.tenant_id,
        job_id=seen.job_id,
        epoch=seen.epoch + 1,
        verb=Verb.RESERVE,
        micro_usd=tariff,
        at=who.now,
    )
    return (row, ChangeAccount(reserve(seen.tenant_id, tariff)), AddEntry(entry))


def is_own_reopening(row: Job, epoch: int, token: RunToken) -> bool:
    """Whether a refused re-opening had in truth been applied: the SDK retried our own write."""
    return row.epoch == epoch + 1 and row.run_token == token


def _reopened(seen: Job, policy: KindPolicy, tariff: int | None, who: Reopening) -> RowChange:
    """The next epoch's beginning, under our token: late writes of the last epoch's runs know it as not theirs."""
    deadline_at = min(who.now + policy.deadline, seen.expires_at - EXPIRY_MARGIN)
    begun = Fields(
        **first_standing(policy, deadline_at, who.now, who.timing),
        review_until=None,
        epoch=seen.epoch + 1,
        attempts=0,
        lost=0,
        run_token=who.token,
        lease_until=None,
        attempt=None,
        reserved_micro_usd=tariff,
        in_flight=tariff is not None,
        deadline_at=deadline_at,
        result=None,
        error_code=None,
        finished_at=None,
    )
    when = (IsJob(seen.job_id), NotExpired(who.now), SeenAt(seen.state, seen.epoch, seen.seq))
    return RowChange(when=when, set=begun, add=Counts(seq=1))
