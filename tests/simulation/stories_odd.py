"""The story of messages that this code cannot read: garbage, and what newer code has written."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from onceward.domain.names import JobId
from onceward.wire.messages import wakeup_body
from tests.simulation.doors import TENANT
from tests.simulation.scenario import Scenario

if TYPE_CHECKING:
    from tests.simulation.invariants import Checker
    from tests.simulation.world import World

GARBAGE = '{"tenant_id": '
NEWER = json.dumps({**json.loads(wakeup_body(TENANT, JobId("A" * 26 + "-" + "A" * 8))), "schema_version": 99})
UNTIL_THEN = 100.0  # seconds until newer code takes its message: some deliveries of it


async def send_oddly(world: World) -> None:
    """One of each kind beside the client's; newer code takes its own in the end."""
    world.queue.put(GARBAGE)
    newer = world.queue.put(NEWER)
    await asyncio.sleep(UNTIL_THEN)
    world.queue.lose(newer)


def kept(checker: Checker) -> None:
    """What nobody can read is in the dead letters, for a person; what newer code can is not."""
    letters = checker.world.queue.dead_letters
    checker.expect(14, any("tenant_id" in letter and "unreadable" in letter for letter in letters), "garbage is lost")
    checker.expect(18, not any("99" in letter for letter in letters), "a newer message was given up")


STORIES = (Scenario(name="odd-messages", by_handlers=True, also=send_oddly, judge=kept),)
