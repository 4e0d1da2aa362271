"""Reset an action that has failed: a new epoch, deliberately and on record; nothing else runs a failed action again.

The mechanism is that of a redrive (``domain/reopening.py``): one transaction, conditioned on the row as it was read. A
reset's record lies under the epoch that it ends, so asking again finds it and changes nothing. The new epoch asks
the target under a new key: a failure is an answer, and what was refused may now be done. Where a review ended without
an answer nobody knows what was done: those calls go along under their old keys, and a target that can tell is asked
first. An action that needs approval waits for it again.
"""

from __future__ import annotations

from onceward.domain.action_records import ActionWord, Word, word_place
from onceward.domain.conditions import IsKnown
from onceward.domain.job import SCHEMA_VERSION, Job, OpenCall
from onceward.domain.names import Identity, RunToken, TenantId
from onceward.domain.records import PastAttempt, attempt_prefix
from onceward.domain.reopening import Reopening, reopen_ops
from onceward.domain.states import JobState
from onceward.domain.timing import EXPIRY_MARGIN
from onceward.domain.transaction import PutCold, Refused
from onceward.errors import BudgetExceeded, NotFailed, StoreBusy
from onceward.usecases.keep_attempt import keep_attempt
from onceward.usecases.read_action import find_action_job
from onceward.usecases.submit_job import UNPAID, Intake, dispatch_job

TRIES = 5  # each lost race means that the job moved on; five in a row, and the person may ask again


async def reset_action(ports: Intake, tenant_id: TenantId, identity: Identity, *, epoch: int, by: str, why: str) -> Job:
    """Open the next epoch of an operation that failed in ``epoch``, and return its row; raises ``NotFailed``."""
    for _ in range(TRIES):
        job = await find_action_job(ports.store, ports.clock, tenant_id, identity)
        said = await ports.store.get_cold(tenant_id, job.job_id, word_place(epoch, Word.RESET))
        if isinstance(said, ActionWord):
            return job
        if not _may_reset(ports, job, epoch):
            raise NotFailed(f"the operation is {job.state} in epoch {job.epoch}")
        if await _written(ports, job, by=by, why=why):
            after = await find_action_job(ports.store, ports.clock, tenant_id, identity)
            if after.state is JobState.QUEUED:
                await dispatch_job(ports.queue, after)
            return after
    raise StoreBusy("the operation kept moving while it was being reset")


def _may_reset(ports: Intake, job: Job, epoch: int) -> bool:
    """Whether it failed in that epoch, holds its arguments still, and lives long enough for another one."""
    is_failed = job.state is JobState.FAILED and job.epoch == epoch and job.erased_at is None
    is_known = IsKnown(ports.registry.limits, SCHEMA_VERSION).holds(job)
    return is_failed and is_known and job.expires_at - EXPIRY_MARGIN > ports.clock.now()


async def _written(ports: Intake, job: Job, *, by: str, why: str) -> bool:
    """One transaction; ``False``: something was quicker, or this was our own write already."""
    await keep_attempt(ports.store, job)
    account = await ports.store.get_account(job.tenant_id)
    who = Reopening(token=RunToken(ports.ids.token()), now=ports.clock.now(), timing=ports.timing)
    record = ActionWord(
        tenant_id=job.tenant_id,
        job_id=job.job_id,
        epoch=job.epoch,
        word=Word.RESET,
        by=by,
        at=who.now,
        why=why,
        fingerprint=job.fingerprint,
    )
    carried = await _unknown_calls(ports, job)
    reopened = reopen_ops(job, ports.registry.find(job.kind).policy, account, who, carried)
    ops = (*reopened, PutCold(record, job.expires_at))
    reply = await ports.store.transact(ops, who.token)
    if isinstance(reply, Refused) and not reply.is_row_refused and reply.is_account_refused:
        raise BudgetExceeded(UNPAID)
    return not isinstance(reply, Refused)


async def _unknown_calls(ports: Intake, job: Job) -> tuple[OpenCall, ...]:
    """The calls of the last attempt that a review has left without an answer.

    An epoch that nobody approved, or that came to its deadline unrun, has no attempt: what it took along is still what
    the last attempt before it has left, of whichever epoch that was.
    """
    items = await ports.store.list_cold(job.tenant_id, job.job_id, attempt_prefix())
    attempts = [item for item in items if isinstance(item, PastAttempt)]
    if not attempts:
        return ()
    last = max(attempts, key=lambda item: (item.epoch, item.number))
    return tuple(call for call in last.open if call.step not in job.accepted)
