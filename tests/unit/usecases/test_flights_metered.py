"""What a flight's participants are charged where the kind's own code can count no more what was accepted."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from onceward.domain.states import JobState
from onceward.domain.tariff import PerPage
from onceward.usecases.registry import Registry
from tests.support.builders import TENANT
from tests.support.flight_world import FlightWorld
from tests.support.worker_world import Ask, Said, ask_all

pytestmark = pytest.mark.anyio
TARIFF = 5_000
OF_THE_FLIGHT = 2  # its run tries the count before it charges by it


@dataclass
class Pages:
    """The kind's ``pages_of``: a deploy between a flight's end and its participants' makes it one that stumbles."""

    calls: int = 0

    def __call__(self, output: Said) -> int:
        """One page, as long as it is the flight's own run that asks."""
        self.calls += 1
        if self.calls > OF_THE_FLIGHT:
            raise KeyError(output.text)
        return 1


async def test_what_the_kind_s_code_cannot_count_any_more_is_given_and_not_charged() -> None:
    """The work is accepted: its participant ends with it, and does not wait for ever."""
    world = FlightWorld()
    world.registry = Registry()
    policy = replace(world.policy, metered=PerPage(100))
    world.registry.kind(policy=policy, input_model=Ask, output_model=Said, pages_of=Pages())(ask_all)
    job_id = await world.ask(1, reserved_micro_usd=TARIFF)
    await world.give(job_id)
    row = world.of(job_id)

    assert (row.state, row.charge_micro_usd, row.is_shared) == (JobState.SUCCEEDED, 0, True)
    assert (world.calls, world.store.accounts[TENANT].available) == (1, TARIFF)
