"""A document that cannot be read, as a job: final at once, nothing asked, nothing paid, nothing delivered again."""

from __future__ import annotations

import pytest

from onceward.domain.deliveries import Acknowledge
from onceward.domain.money import Cost
from onceward.domain.states import JobState
from onceward.errors import JobFailure
from onceward.kinds.extract_document import REASONS
from onceward.usecases.context import Context
from tests.support.worker_world import Ask, Said, WorkerWorld

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("code", sorted(REASONS))
async def test_refused_document_costs_its_job_nothing(code: str) -> None:
    """DOC-…: the code reaches the row, the reservation is released, one attempt, no letter."""

    async def reads(context: Context, given: Ask) -> Said:
        raise JobFailure(REASONS[code], code=code)

    world = WorkerWorld(reads)
    await world.create(reserved_micro_usd=5_000)
    report = await world.deliver()
    row = world.row

    assert (row.state, row.error_code, row.attempts) == (JobState.FAILED, code, 1)
    assert (world.provider.keys, row.possible_spent) == ([], Cost.nothing())
    assert (world.account.available, world.account.reserved) == (5_000, 0)
    assert (report.disposition, row.due, world.queue.dead_letters) == (Acknowledge(), None, ())
