"""Create a job, or find the one that its key already has.

The order is the design's: one read of the row; an existing one is a replay or a reused key, without validation or
writes, so that a deploy never turns a replay into a conflict. Then kind and input, then documents, then the account,
then the tenant's rate, then one transaction. Reasons of a refusal are read in this order: the row's, the account's (its
budget, its limit of jobs in flight), a conflict. The rate is counted last, so that what is refused or replayed counts
for nothing; only the loser of a race for the key or for the last place on the account, which the transaction alone can
tell, was counted in vain.

Nothing is sent before the job is durable. A process that dies in between has lost a message, never a job: the row is
due, and the sweeper or the next replay sends it. A large input is an object before the transaction that names it; a
create that was refused for certain takes its object back. Where nobody knows (a lost answer, a death) it stays, since
an applied create may need it, and the bucket's lifecycle is the last to come.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from pydantic import BaseModel, JsonValue, ValidationError

from onceward.domain.creating import Birth, create_ops, is_own_create, is_undispatched, new_job
from onceward.domain.job import Job
from onceward.domain.ledger import Account
from onceward.domain.names import CreateToken, Fingerprint, Identity, TenantId
from onceward.domain.records import INPUT_INLINE_LIMIT, Input
from onceward.domain.states import JobState
from onceward.domain.tally import Limits
from onceward.domain.timing import Timing
from onceward.domain.transaction import Applied, Refused, WriteReply
from onceward.errors import (
    BudgetExceeded,
    InFlightLimit,
    InfrastructureError,
    InvalidInput,
    KeyReused,
    RequestError,
    StoreBusy,
    UnknownKind,
)
from onceward.usecases.admit_action import admit_action, limit_of
from onceward.usecases.bodies import store_body, take_back
from onceward.usecases.count_use import count_use
from onceward.usecases.documents import resolve_documents
from onceward.usecases.pointers import faults_of, field_names
from onceward.usecases.ports import Blob, Clock, Ids, Queue, Store, Wakeup
from onceward.usecases.registry import AnyKind, Registry
from onceward.usecases.stored_input import StoredInput

NO_LIMITS = Limits()
UNPAID = "the tenant's account has too little available for this job"
CROWDED = "as many of this tenant's jobs are in flight as its account allows"
IN_FLIGHT_RETRY = timedelta(seconds=5)  # nobody knows when a job ends; soon enough for short ones, cheap for long ones


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    """What create needs of the world."""

    store: Store
    blob: Blob
    queue: Queue
    clock: Clock
    ids: Ids
    registry: Registry
    timing: Timing
    limits: Limits = NO_LIMITS


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A verified client's wish: ``fingerprint`` and ``identity`` are made from the request as it was sent.

    ``operation_id``: an agent's name for its intention; only actions have one, and no action goes without.
    """

    tenant_id: TenantId
    identity: Identity
    fingerprint: Fingerprint
    kind: str
    input: dict[str, JsonValue]
    created_by: str
    traceparent: str | None = None
    coalesce: bool = True
    operation_id: str | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """The job that a key has now; ``is_new``: this very request made it."""

    job: Job
    is_new: bool


async def submit_job(intake: Intake, wish: Submission) -> Kept:
    """Find the key's job or make it durable, and send its message; raises ``KeyReused`` for another request's key."""
    kept = await _find(intake, wish) or await _create(intake, wish)
    if kept.job.fingerprint != wish.fingerprint:
        raise KeyReused("this Idempotency-Key was used for another request")
    is_fresh = kept.is_new and kept.job.state is JobState.QUEUED
    if is_fresh or is_undispatched(kept.job, intake.clock.now()):
        await dispatch_job(intake.queue, kept.job)
    return kept


async def dispatch_job(queue: Queue, job: Job) -> bool:
    """Wake a worker. Never raises: a lost message is the sweeper's, and the job is durable already."""
    try:
        await queue.wake(Wakeup(job.tenant_id, job.job_id, job.traceparent))
    except InfrastructureError:
        return False
    return True


async def _find(intake: Intake, wish: Submission) -> Kept | None:
    """The job that the key has already; an expired one is none."""
    found = await intake.store.get_job(wish.tenant_id, wish.identity)
    return None if found is None or found.expires_at <= intake.clock.now() else Kept(found, is_new=False)


async def _create(intake: Intake, wish: Submission) -> Kept:
    """Check the wish and make its job durable, or find the one that was quicker."""
    now = intake.clock.now()
    kind = intake.registry.find(wish.kind)
    if (kind.action is None) != (wish.operation_id is None):
        raise UnknownKind("no such job kind")  # an action is asked for by its own route, with its own permission
    checked = _validated(kind, wish.input)
    admit_action(kind, checked)
    wanted = kind.documents_of(checked)
    documents = await resolve_documents(intake.blob, wish.tenant_id, wanted, wish.input, field_names(kind.input_model))
    account = await intake.store.get_account(wish.tenant_id)
    denial = _denial(account, kind.policy.tariff_micro_usd)
    if denial is not None:
        return await _denied(intake, wish, denial)
    for limit in (intake.limits.creates, limit_of(kind)):
        await count_use(intake.store, intake.clock, wish.tenant_id, limit)
    birth = Birth(
        tenant_id=wish.tenant_id,
        identity=wish.identity,
        token=CreateToken(intake.ids.token()),
        fingerprint=wish.fingerprint,
        created_by=wish.created_by,
        traceparent=wish.traceparent,
        now=now,
    )
    job = new_job(birth, kind.policy, intake.timing, account)
    content = StoredInput(input=wish.input, documents=documents, coalesce=wish.coalesce, operation_id=wish.operation_id)
    given = await _stored(intake.blob, job, content)
    reply = await intake.store.transact(create_ops(job, given), job.create_token)
    if isinstance(reply, Refused):
        await _take_back(intake.blob, job, given, reply)
    return _meaning(job, reply)


def _denial(account: Account | None, tariff: int) -> RequestError | None:
    """What an account says against one more job of this tariff; too little money first, for waiting does not help."""
    if account is None:
        return None
    if account.available < tariff:
        return BudgetExceeded(UNPAID)
    return InFlightLimit(CROWDED, retry_after=IN_FLIGHT_RETRY) if account.is_full else None


async def _denied(intake: Intake, wish: Submission, denial: RequestError) -> Kept:
    """Refuse before anything is stored, unless money or place went to this very key's job since we looked for it."""
    kept = await _find(intake, wish)
    if kept is None:
        raise denial
    return kept


def _meaning(job: Job, reply: WriteReply) -> Kept:
    """What the one transaction came to."""
    match reply:
        case Applied():
            return Kept(job, is_new=True)
        case Refused(row=Job() as row, is_row_refused=True):
            return Kept(row, is_new=is_own_create(row, job.create_token))
        case Refused(is_account_refused=True, account=account):
            raise _denial(account, job.reserved_micro_usd or 0) or BudgetExceeded(UNPAID)
        case Refused():
            raise StoreBusy("the create was refused and left no reason")


async def _take_back(blob: Blob, job: Job, given: Input, refused: Refused) -> None:
    """Erase the object of a create that was refused; never what a stored row may name (own-token rule).

    A row of our own token is our write, applied after all. One of our job id is as good as that: the object is its.
    """
    if refused.row is None or refused.row.job_id != job.job_id:
        await take_back(blob, given.blob_key)


async def _stored(blob: Blob, job: Job, content: StoredInput) -> Input:
    """The input item; what is too large for the transaction is in the blob store before it."""
    text = content.model_dump_json()
    kept = await store_body(blob, job.tenant_id, job.job_id, "input", text, limit=INPUT_INLINE_LIMIT)
    return Input(tenant_id=job.tenant_id, job_id=job.job_id, body=kept.body, blob_key=kept.blob_key)


def _validated(kind: AnyKind, given: dict[str, JsonValue]) -> BaseModel:
    """The input as the kind's model reads it; raises ``InvalidInput`` with each fault's place."""
    try:
        return kind.input_model.model_validate(given)
    except ValidationError as error:
        faults = faults_of(error, kind.input_model, "/input" if kind.action is None else "/arguments")
        raise InvalidInput("the input breaks the kind's model", faults=faults) from None
