"""Claim a job: try to start it blindly; each refusal brings the row, which picks the next write."""

from __future__ import annotations

from dataclasses import dataclass

from onceward.domain.claim import Claim, Claimant, Unclaimable, claim_change, decide_claim, is_own_claim
from onceward.domain.job import Job
from onceward.domain.names import JobId, RunToken, TenantId
from onceward.domain.transaction import Applied
from onceward.errors import StoreBusy
from onceward.usecases.deps import Deps

MOST_WRITES = 6  # start, what the row says, and some lost races; whoever loses more comes back by its message


@dataclass(frozen=True, slots=True)
class Claimed:
    """The job is ours under ``token`` until its lease ends; ``lease_ends`` is that end on the monotonic clock."""

    job: Job
    claim: Claim
    token: RunToken
    lease_ends: float


@dataclass(frozen=True, slots=True)
class NotClaimed:
    """Nothing to run now, and the row that says so; ``is_takeover_due``: only the caller's wish held us back."""

    reason: Unclaimable
    row: Job | None = None
    is_takeover_due: bool = False


async def claim_job(
    deps: Deps, tenant_id: TenantId, job_id: JobId, token: RunToken, *, may_take_over: bool
) -> Claimed | NotClaimed:
    """Claim by at most a few writes.

    Raises ``InfrastructureError``; a claim whose answer was lost is then ended by its lease. Dying right after an
    applied write costs one lease and, for a start, the attempt.
    """
    claim, seen = Claim.START, None
    for _ in range(MOST_WRITES):
        asked_at = deps.clock.monotonic()
        who = Claimant(
            job_id=job_id, token=token, limits=deps.registry.limits, now=deps.clock.now(), timing=deps.timing
        )
        change = claim_change(claim, who, seen)
        reply = await deps.store.update_job(tenant_id, job_id, change)
        lease_ends = asked_at + deps.timing.lease.total_seconds()  # counted from before the write: never too long
        if isinstance(reply, Applied):
            if reply.before is None:
                raise TypeError("a store tells the row that an update changed")
            return Claimed(change.apply(reply.before), claim, token, lease_ends)
        if reply.row is None:
            return NotClaimed(Unclaimable.ABSENT)
        if is_own_claim(reply.row, token):
            return Claimed(reply.row, claim, token, lease_ends)
        seen = reply.row
        wanted = decide_claim(seen, who)
        if isinstance(wanted, Unclaimable):
            return NotClaimed(wanted, seen)
        if wanted is Claim.TAKEOVER and not may_take_over:
            return NotClaimed(Unclaimable.LEASE_LIVE, seen, is_takeover_due=True)
        claim = wanted
    raise StoreBusy("the claim kept losing races")
