"""What would become of a dead letter, by its job's row."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from onceward.domain.job import Job
from onceward.domain.ledger import Account
from onceward.domain.letters import Fate, foretell
from onceward.domain.reopening import Redrive, decide_redrive
from onceward.domain.states import JobState
from tests.support.builders import JOB_ID, NOW, TENANT, a_job, a_policy

POOR = Account(tenant_id=TENANT, granted=5_000, available=4_999, reserved=1, captured=0)
RICH = Account(tenant_id=TENANT, granted=5_000, available=5_000, reserved=0, captured=0)


def exhausted(**fields: Any) -> Job:
    """A job that ended because no attempt was left."""
    given: dict[str, Any] = {"state": JobState.FAILED, "error_code": "attempts_exhausted", "reserved_micro_usd": 5_000}
    return a_job(**{**given, **fields})


@pytest.mark.parametrize(
    ("job", "epoch", "account", "fate", "why"),
    [
        (exhausted(), 1, RICH, Fate.REOPENS, "attempts_exhausted"),
        (exhausted(), 1, None, Fate.REOPENS, "attempts_exhausted"),
        (exhausted(), 1, POOR, Fate.REFUSED, "budget_exceeded"),
        (exhausted(epoch=2), 1, RICH, Fate.MOVED_ON, "another_epoch"),
        (exhausted(erased_at=NOW), 1, RICH, Fate.MOVED_ON, "erased"),
        (exhausted(expires_at=NOW + timedelta(days=6)), 1, RICH, Fate.MOVED_ON, "expires_soon"),
        (exhausted(expires_at=NOW), 1, RICH, Fate.MOVED_ON, "job_gone"),
        (exhausted(error_code="provider_auth"), 1, RICH, Fate.MOVED_ON, "provider_auth"),
        (a_job(state=JobState.SUCCEEDED), 1, RICH, Fate.MOVED_ON, "succeeded"),
        (a_job(state=JobState.NEEDS_REVIEW, review_until=NOW), 1, RICH, Fate.REFUSED, "in_review"),
        (a_job(state=JobState.RUNNING, review_until=NOW), 1, RICH, Fate.REFUSED, "in_review"),
        (None, 1, RICH, Fate.MOVED_ON, "job_gone"),
        (a_job(), None, RICH, Fate.WAKES, "not_handled"),
        (a_job(state=JobState.CANCELLED), None, RICH, Fate.MOVED_ON, "cancelled"),
    ],
)
def test_the_row_tells_a_letters_fate(
    job: Job | None, epoch: int | None, account: Account | None, fate: Fate, why: str
) -> None:
    """One row per way a letter can go; an unknown call is never re-sent by one."""
    told = foretell(job, JOB_ID, epoch, account, NOW)

    assert (told.fate, told.why) == (fate, why)


@pytest.mark.parametrize("job", [exhausted(), exhausted(epoch=2), exhausted(erased_at=NOW), a_job(), None])
def test_what_is_foretold_is_what_the_worker_decides(job: Job | None) -> None:
    """Apart from the budget, which only the write itself can know for sure."""
    decided = decide_redrive(job, JOB_ID, 1, (a_policy().limit,), NOW)

    assert (foretell(job, JOB_ID, 1, RICH, NOW).fate is Fate.REOPENS) == (decided is Redrive.REOPENED)
