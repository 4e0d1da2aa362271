"""Approve an action that waits for it: one transaction, then its message; the same approval again changes nothing.

Dying after the write loses a message: the row is due, and the sweeper sends it.
"""

from __future__ import annotations

from onceward.domain.action_records import ActionWord, Word, word_place
from onceward.domain.approving import Approval, approve_ops, is_awaiting
from onceward.domain.job import Job
from onceward.domain.names import Identity, TenantId
from onceward.domain.transaction import Refused
from onceward.errors import ArgumentsChanged, NotAwaitingApproval, StoreBusy
from onceward.usecases.read_action import find_action_job
from onceward.usecases.submit_job import Intake, dispatch_job

TRIES = 5  # each lost race means that the job moved on; five in a row, and the person may ask again


async def approve_action(
    ports: Intake,
    tenant_id: TenantId,
    identity: Identity,
    *,
    fingerprint: str,
    by: str,
    why: str,
    epoch: int | None = None,
) -> Job:
    """Let the action be sent, and return its row; raises ``ArgumentsChanged`` and ``NotAwaitingApproval``.

    ``epoch``: the one that was looked at, so that an approval that comes late lets no later epoch pass; ``None``: the
    present one, whichever it is.
    """
    for _ in range(TRIES):
        job = await find_action_job(ports.store, ports.clock, tenant_id, identity)
        if job.fingerprint != fingerprint:
            raise ArgumentsChanged("these are not the arguments that the operation has")
        meant = job.epoch if epoch is None else epoch
        said = await ports.store.get_cold(tenant_id, job.job_id, word_place(meant, Word.APPROVE))
        if isinstance(said, ActionWord):
            return job
        if not _may_approve(ports, job, meant):
            raise NotAwaitingApproval(f"the operation is {job.state} in epoch {job.epoch}")
        approval = Approval(by=by, why=why, fingerprint=fingerprint, now=ports.clock.now(), timing=ports.timing)
        reply = await ports.store.transact(approve_ops(job, approval), ports.ids.token())
        if not isinstance(reply, Refused):
            after = await find_action_job(ports.store, ports.clock, tenant_id, identity)
            await dispatch_job(ports.queue, after)
            return after
    raise StoreBusy("the operation kept moving while it was being approved")


def _may_approve(ports: Intake, job: Job, epoch: int) -> bool:
    """Whether it waits for an approval in that epoch, and lives long enough to be sent."""
    return job.epoch == epoch and is_awaiting(job) and job.deadline_at > ports.clock.now()
