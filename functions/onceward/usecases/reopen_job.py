"""A dead letter that came back: re-open its job if the letter still speaks of it, else change nothing.

The present attempt is put as its item first, then one transaction moves the row into its next epoch and reserves; the
same delivery then goes on as a plain wake-up. Dying in between leaves an item that the row still speaks for, or a
queued row that is due. A letter is never acknowledged before it was decided: SQS keeps it otherwise, body and epoch.
"""

from __future__ import annotations

from onceward.domain.job import Job
from onceward.domain.names import JobId, RunToken, TenantId, identity_of
from onceward.domain.reopening import (
    BUDGET_EXCEEDED,
    Redrive,
    Reopening,
    decide_redrive,
    is_own_reopening,
    reopen_ops,
)
from onceward.domain.transaction import Applied, Refused
from onceward.errors import InfrastructureError
from onceward.usecases.deps import Deps
from onceward.usecases.keep_attempt import keep_attempt
from onceward.usecases.ports import DeadLetter


async def reopen_job(deps: Deps, tenant_id: TenantId, job_id: JobId, epoch: int) -> Redrive:
    """Say what a letter of ``epoch`` came to; never raises for infrastructure: then nothing is decided yet."""
    try:
        seen = await deps.store.get_job(tenant_id, identity_of(job_id))
        decided = decide_redrive(seen, job_id, epoch, deps.registry.limits, deps.clock.now())
        if seen is None or decided is not Redrive.REOPENED:
            return decided
        return await _reopen(deps, seen)
    except InfrastructureError:
        return Redrive.NOT_ANSWERED


async def _reopen(deps: Deps, seen: Job) -> Redrive:
    """Keep the last attempt, then write; of two letters one wins, and the other finds that the row has moved on."""
    await keep_attempt(deps.store, seen)
    account = await deps.store.get_account(seen.tenant_id)
    who = Reopening(token=RunToken(deps.ids.token()), now=deps.clock.now(), timing=deps.timing)
    policy = deps.registry.find(seen.kind).policy
    match await deps.store.transact(reopen_ops(seen, policy, account, who), who.token):
        case Applied():
            return Redrive.REOPENED
        case Refused(row=Job() as row, is_row_refused=True) if is_own_reopening(row, seen.epoch, who.token):
            return Redrive.REOPENED
        case Refused(is_row_refused=False, is_account_refused=True):
            await deps.queue.bury(DeadLetter(seen.tenant_id, seen.job_id, seen.epoch, BUDGET_EXCEEDED))
            return Redrive.BUDGET_REFUSED
        case Refused():
            return Redrive.CHANGED_NOTHING
