"""Auditing a tenant's books: what accounts and entries must say, computed from the jobs' rows alone.

A row says what its present epoch reserved and was charged, and whether it has ended; from that follow the entries that
may exist for it, to the micro-dollar, and, summed up, the account. Epochs that are over reserved and released equally.
Rows live for 90 days and entries for ever: of a job past its retention only its entries are left, which must close.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from onceward.domain.job import Job
from onceward.domain.ledger import Account, Entry, Verb
from onceward.domain.names import JobId
from onceward.domain.states import JobState
from onceward.domain.timing import JOB_LIFE

type Lines = Mapping[Verb, int]

HOLDS = frozenset({Verb.RESERVE, Verb.CARRY})
ENDS = frozenset({Verb.CAPTURE, Verb.RELEASE})


@dataclass(frozen=True, slots=True)
class Finding:
    """One place where the books are not what the jobs say; amounts in micro-USD."""

    where: str
    expected: str
    found: str

    def __str__(self) -> str:
        """One line."""
        return f"{self.where}: expected {self.expected}, found {self.found}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Books:
    """What is kept of one tenant, read while nothing moved: ``jobs`` are all rows that are there."""

    account: Account | None
    entries: tuple[Entry, ...]
    jobs: Mapping[JobId, Job]


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What was found, and over how much: rows, entries, and jobs of which only entries are left."""

    findings: tuple[Finding, ...]
    jobs: int
    entries: int
    past_retention: int


def audit(books: Books, now: datetime) -> Audit:
    """Compare the books with the jobs."""
    lines: defaultdict[JobId, dict[int, dict[Verb, int]]] = defaultdict(lambda: defaultdict(dict))
    born: dict[JobId, datetime] = {}
    for entry in books.entries:
        if entry.verb is not Verb.GRANT:
            lines[entry.job_id][entry.epoch][entry.verb] = entry.micro_usd
            born[entry.job_id] = min(entry.at, born.get(entry.job_id, entry.at))
    gone = [job_id for job_id in lines if job_id not in books.jobs]
    findings: list[Finding] = []
    for job in books.jobs.values():
        findings += _of_job(job, lines.get(job.job_id, {}))
    for job_id in gone:
        findings += _of_gone(job_id, lines[job_id], born[job_id], now)
    captured = sum(one.get(Verb.CAPTURE, 0) for job_id in gone for one in lines[job_id].values() if one.keys() & HOLDS)
    findings += _of_account(books, captured)
    return Audit(findings=tuple(findings), jobs=len(books.jobs), entries=len(books.entries), past_retention=len(gone))


def _of_job(job: Job, lines: Mapping[int, Lines]) -> Iterable[Finding]:
    """The present epoch's lines follow from the row, those of past ones from each other, and there are no others."""
    for epoch, found in lines.items():
        place = f"{job.job_id}#{epoch}"
        if epoch > job.epoch:
            yield Finding(place, "no entry: the job has not come to this epoch", _spelt(found))
        elif epoch < job.epoch:
            yield from _of_past(place, found, is_carried=Verb.CARRY in lines.get(epoch + 1, {}))
    expected = _expected(job, is_carry=Verb.CARRY in lines.get(job.epoch, {}))
    present = lines.get(job.epoch, {})
    if present != expected:
        yield Finding(f"{job.job_id}#{job.epoch} ({job.state})", _spelt(expected), _spelt(present))


def _expected(job: Job, *, is_carry: bool) -> Lines:
    """The lines of a row's present epoch; a carried reservation has another verb and the same amount.

    A flight is nobody's: each of its participants has lines of its own.
    """
    expected: dict[Verb, int] = {}
    if job.is_flight:
        return expected
    if job.reserved_micro_usd is not None:
        expected[Verb.CARRY if is_carry else Verb.RESERVE] = job.reserved_micro_usd
    if job.state is JobState.SUCCEEDED:
        expected[Verb.CAPTURE] = job.charge_micro_usd or 0
    elif job.state.is_terminal and job.reserved_micro_usd is not None:
        expected[Verb.RELEASE] = job.reserved_micro_usd
    return expected


def _of_past(place: str, found: Lines, *, is_carried: bool) -> Iterable[Finding]:
    """An epoch that is over gave back what it held, or carried it on; it captured nothing."""
    held = [amount for verb, amount in found.items() if verb in HOLDS]
    expected: Lines = {} if is_carried or not held else {Verb.RELEASE: held[0]}
    ended = {verb: amount for verb, amount in found.items() if verb in ENDS}
    if len(held) > 1 or ended != expected:
        yield Finding(place, _spelt(expected) if held else "no entry", _spelt(found))


def _of_gone(job_id: JobId, lines: Mapping[int, Lines], born: datetime, now: datetime) -> Iterable[Finding]:
    """A job past its retention: every epoch is closed, and no more was captured than was held."""
    if born + JOB_LIFE > now:
        yield Finding(str(job_id), "a job", "entries alone, within its retention")
        return
    for epoch, found in lines.items():
        held = [amount for verb, amount in found.items() if verb in HOLDS]
        if Verb.CAPTURE in found:
            is_closed = Verb.RELEASE not in found and (not held or 0 <= found[Verb.CAPTURE] <= held[0])
        else:
            is_closed = Verb.CARRY in lines.get(epoch + 1, {}) or [found.get(Verb.RELEASE)] == held
        if not is_closed:
            yield Finding(f"{job_id}#{epoch}", "a closed epoch", _spelt(found))


def _of_account(books: Books, captured_before: int) -> Iterable[Finding]:
    """The account is the sum of its grants and of its jobs."""
    account = books.account
    granted = sum(entry.micro_usd for entry in books.entries if entry.verb is Verb.GRANT)
    if account is None:
        held = [job.job_id for job in books.jobs.values() if job.reserved_micro_usd is not None]
        if granted or held:
            yield Finding("account", "an account: it was granted to, or jobs hold money", "none")
        return
    holding = [job for job in books.jobs.values() if job.reserved_micro_usd is not None]
    still = [job for job in holding if not job.state.is_terminal]
    reserved = sum(job.reserved_micro_usd or 0 for job in still)
    captured = captured_before + sum(job.charge_micro_usd or 0 for job in holding if job.state is JobState.SUCCEEDED)
    expected = {
        "granted": granted,
        "reserved": reserved,
        "captured": captured,
        "available": granted - reserved - captured,
        "in_flight": sum(job.in_flight for job in still),
    }
    for part, amount in expected.items():
        found = getattr(account, part)
        if found != amount:
            yield Finding(f"account {part}", str(amount), str(found))


def _spelt(lines: Lines) -> str:
    """Lines as they are told."""
    return ", ".join(f"{verb} {amount}" for verb, amount in sorted(lines.items())) or "no entry"
