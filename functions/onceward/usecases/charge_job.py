"""What an accepted result is charged, from the kind's tariff and from what was accepted."""

from __future__ import annotations

from pydantic import BaseModel

from onceward.domain.job import Job
from onceward.domain.records import Answer, answer_prefix
from onceward.domain.tariff import PerToken, charge_for
from onceward.errors import Usage
from onceward.usecases.ports import Store
from onceward.usecases.registry import AnyKind


async def charge_job(store: Store, job: Job, kind: AnyKind, output: BaseModel) -> int:
    """Micro-USD, at most the tariff's maximum; only a tariff by tokens reads the answers once more."""
    policy = kind.policy
    answers = await _accepted(store, job) if isinstance(policy.metered, PerToken) else ()
    return charge_for(policy.metered, policy.tariff_micro_usd, pages=kind.pages_of(output), answers=answers)


async def _accepted(store: Store, job: Job) -> tuple[Usage | None, ...]:
    """What the answers that the row names have used, of whichever attempt; a second purchase is not among them."""
    named = {(step, ref.epoch, ref.attempt) for step, ref in job.accepted.items()}
    stored = await store.list_cold(job.tenant_id, job.job_id, answer_prefix())
    answers = (item for item in stored if isinstance(item, Answer))
    return tuple(one.usage for one in answers if (one.step, one.epoch, one.attempt) in named)
