"""Random conversations with a store: the same writes, transactions and queries, asked of every store alike.

Everything is drawn from a small world (two tenants, three jobs, two tokens, a few instants), so that conditions hold
and fail about equally often, rows collide, accounts run dry and entries exist already.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from onceward.domain.change import Counts, Fields, RowChange
from onceward.domain.conditions import (
    BeforeDeadline,
    Condition,
    HasAttemptsLeft,
    HeldBy,
    IsJob,
    IsKnown,
    IsLookable,
    IsResumable,
    IsStartable,
    KindLimit,
    LeaseEndsBefore,
    NoCancel,
    NotExpired,
    SeenAt,
    SeenDue,
    SeenJournals,
    SeenLease,
)
from onceward.domain.due import all_shards
from onceward.domain.job import Job
from onceward.domain.ledger import Entry, Verb, capture, release, reserve
from onceward.domain.names import JobId, RunToken
from onceward.domain.records import Answer, Input
from onceward.domain.states import JobState, ProviderCancel, WaitingFor
from onceward.domain.tally import Counted, Tally
from onceward.domain.transaction import AddEntry, Applied, ChangeAccount, CreateRow, Op, PutCold, Refused, UpdateRow
from onceward.usecases.ports import Store
from tests.contract.job_store.stories import a_grant, a_numbered_job
from tests.support.builders import KIND, NOW, OTHER_TOKEN, TENANT, TOKEN, an_answer

JOBS = tuple(a_numbered_job(number) for number in (1, 2, 3))
INSTANTS = tuple(NOW + timedelta(seconds=seconds) for seconds in (-60, 0, 60))
LIMITS = (KindLimit(KIND, 1, 2),)
TOKENS: tuple[RunToken, ...] = (TOKEN, OTHER_TOKEN)
STATES = (JobState.QUEUED, JobState.RUNNING, JobState.WAITING, JobState.NEEDS_REVIEW, JobState.SUCCEEDED)
EXPIRY = NOW + timedelta(days=90)

type Question = Callable[[Store], Coroutine[Any, Any, Any]]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: its kind, for the list of known differences, its words, and how it is asked."""

    kind: str
    words: str
    ask: Question


class Speaker:
    """Draws a conversation."""

    def __init__(self, seed: int) -> None:
        """The same seed says the same."""
        self._seed = seed  # an account remembers the tokens of all conversations
        self._draw = random.Random(seed)
        self._tokens: list[tuple[str, tuple[Op, ...]]] = []

    def conversation(self, length: int) -> list[Asked]:
        """Begin with jobs and money, then anything."""
        first = [self._create(job) for job in JOBS[:2]]
        grant = a_grant()
        first.append(Asked("grant", "grant", lambda store: store.grant(TENANT, 10_000, grant)))
        kinds = (self._update, self._update, self._update, self._transact, self._transact, self._put, self._read)
        return first + [self._draw.choice(kinds)() for _ in range(length)]

    def _create(self, job: Job) -> Asked:
        op = CreateRow(replace(job, due=self._draw.choice(INSTANTS)), NOW)
        return self._as_transaction((op,))

    def _update(self) -> Asked:
        job = self._draw.choice(JOBS)
        change = self._change(job)
        words = f"update {job.job_id} {change}"
        return Asked("update", words, lambda store: store.update_job(job.tenant_id, job.job_id, change))

    def _change(self, job: Job) -> RowChange:
        draw = self._draw
        when = tuple(self._condition(job) for _ in range(draw.randint(1, 2)))
        fields = Fields(state=draw.choice(STATES), due=draw.choice((None, *INSTANTS)))
        if draw.random() < 0.5:
            fields["waiting_for"] = draw.choice((None, WaitingFor.RETRY, WaitingFor.LOOKUP))
            fields["wake_at"] = draw.choice((None, *INSTANTS))
        if draw.random() < 0.5:
            fields["run_token"] = draw.choice(TOKENS)
            fields["lease_until"] = draw.choice((None, *INSTANTS))
        if draw.random() < 0.2:
            fields["cancel_requested_at"] = draw.choice((None, NOW))
            fields["provider_cancel"] = draw.choice((ProviderCancel.NONE, ProviderCancel.UNSUPPORTED))
        if draw.random() < 0.2:
            fields["epoch"] = draw.randint(1, 2)
            fields["error_code"] = draw.choice((None, "kind_error"))
        return RowChange(when=when, set=fields, add=Counts(seq=1, attempts=draw.choice((0, 0, 1))))

    def _condition(self, job: Job) -> Condition:
        draw, at = self._draw, self._draw.choice(INSTANTS)
        choices: tuple[Callable[[], Condition], ...] = (
            lambda: IsJob(JobId(job.job_id[:-1] + draw.choice("HHZ"))),  # this life, or another one of its key
            lambda: IsKnown(LIMITS, draw.choice((0, 1, 1))),
            lambda: HasAttemptsLeft(LIMITS),
            lambda: IsStartable(at),
            lambda: IsResumable(at),
            lambda: IsLookable(at),
            lambda: HeldBy(draw.choice(TOKENS)),
            lambda: LeaseEndsBefore(at),
            lambda: SeenLease(draw.choice(TOKENS), at),
            lambda: SeenAt(draw.choice(STATES), draw.randint(1, 2), draw.randint(0, 3)),
            lambda: SeenDue(at, draw.choice((None, *TOKENS))),
            lambda: SeenJournals(draw.randint(0, 1)),
            NoCancel,
            lambda: BeforeDeadline(NOW + timedelta(days=draw.choice((0, 1, 2)))),
            lambda: NotExpired(NOW + timedelta(days=draw.choice((0, 89, 91)))),
        )
        return draw.choice(choices)()

    def _transact(self) -> Asked:
        draw = self._draw
        if self._tokens and draw.random() < 0.15:
            token, ops = draw.choice(self._tokens)
            return Asked("repeated token", f"transact again {token}", lambda store: store.transact(ops, token))
        job = draw.choice(JOBS)
        row: Op = (
            CreateRow(job, NOW) if draw.random() < 0.3 else UpdateRow(job.tenant_id, job.job_id, self._change(job))
        )
        move = draw.choice((reserve(TENANT, 4_000), release(TENANT, 1_000), capture(TENANT, 3_000, 2_500)))
        verb = draw.choice((Verb.RESERVE, Verb.RELEASE, Verb.CAPTURE))
        entry = Entry(tenant_id=TENANT, job_id=job.job_id, epoch=1, verb=verb, micro_usd=7, at=NOW)
        parts: tuple[Op, ...] = (ChangeAccount(move), AddEntry(entry), PutCold(self._item(job), EXPIRY))
        return self._as_transaction((row, *draw.sample(parts, draw.randint(0, 3))))

    def _as_transaction(self, ops: tuple[Op, ...]) -> Asked:
        token = f"token-{self._seed}-{len(self._tokens)}"
        self._tokens.append((token, ops))
        return Asked("transact", f"transact {ops}", lambda store: store.transact(ops, token))

    def _item(self, job: Job) -> Input | Answer:
        if self._draw.random() < 0.5:
            return Input(
                tenant_id=job.tenant_id, job_id=job.job_id, body=self._draw.choice(("one", "two")), blob_key=None
            )
        return replace(an_answer(job_id=job.job_id), attempt=self._draw.randint(1, 2))

    def _put(self) -> Asked:
        item = self._item(self._draw.choice(JOBS))
        return Asked("put", f"put {item}", lambda store: store.put_cold(item, EXPIRY))

    def _read(self) -> Asked:
        draw, at = self._draw, self._draw.choice(INSTANTS)
        shard, job = draw.choice(all_shards()), draw.choice(JOBS)
        tally = Tally(
            tenant_id=TENANT, counted=Counted.CREATES, begins_at=NOW, ends_at=NOW + timedelta(minutes=1), most=3
        )
        reads: tuple[tuple[str, Question], ...] = (
            ("due page", lambda store: store.due_page(shard, at, 2)),
            ("tenant page", lambda store: store.tenant_page(TENANT, None, 2)),
            ("account", lambda store: store.get_account(TENANT)),
            ("items", lambda store: store.list_cold(job.tenant_id, job.job_id, "call#")),
            ("entries", lambda store: store.list_entries(TENANT, "")),
            ("tally", lambda store: store.count(tally)),
            ("switch", lambda store: store.switch("all", is_on=at == NOW)),
        )
        words, question = draw.choice(reads)
        return Asked(words, words, question)


async def final_tables(store: Store) -> dict[str, Any]:
    """All that can be read of the small world, by its name."""
    found: dict[str, Any] = {"account": await store.get_account(TENANT), "off": await store.switched_off()}
    found["entries"] = await store.list_entries(TENANT, "")
    found["listed"] = await store.tenant_page(TENANT, None, 10)
    for job in JOBS:
        found[f"row {job.job_id}"] = await store.get_job(job.tenant_id, job.identity)
        found[f"items {job.job_id}"] = await store.list_cold(job.tenant_id, job.job_id, "")
    for shard in all_shards():
        found[f"due {shard}"] = await store.due_page(shard, datetime.max.replace(tzinfo=NOW.tzinfo) - timedelta(1), 10)
    return found


async def answer(store: Store, asked: Asked) -> Any:
    """What a store says, or how it fails."""
    try:
        said = await asked.ask(store)
    except Exception as error:  # noqa: BLE001  # an error is an answer
        return f"{type(error).__name__}"
    match said:
        case Applied():
            return "applied", said.before
        case Refused():
            return "refused", said.row, said.is_row_refused, said.is_account_refused, said.is_entry_refused
        case _:
            return said
