"""The stories of an operator who looks at a running deployment, and grants: what is found is what is wrong, or nothing.

Books and reviews are read by several requests while jobs move, and after TTL has taken what they were about.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from onceward.usecases.grant_budget import grant_budget, show_account
from onceward.usecases.list_reviews import list_reviews
from onceward.usecases.submit_job import Intake
from onceward.usecases.verify_account import verify_account
from tests.simulation.asking import ask_until_heard
from tests.simulation.doors import OPERATOR, TENANT, Heard, heard_of
from tests.simulation.model import DEDUPES, Script
from tests.simulation.reading import first_job, until_at_rest
from tests.simulation.scenario import Scenario
from tests.simulation.stories_ttl import LIFE

if TYPE_CHECKING:
    from tests.simulation.doors import Deed
    from tests.simulation.world import World

PAGE = 10
MORE = 5_000  # micro-USD
MOST_TRIES = 40  # of an operator who means it
SOON, AMIDST, LATER = 0.05, 2.0, 2.1  # seconds: before the call, while it computes, after the books have moved


async def verified(intake: Intake) -> None:
    """The books agree with the jobs, whenever they are looked at; if they never rest, that is no finding."""
    audit = await verify_account(intake.store, intake.clock, TENANT)
    assert not audit.findings, f"the operator was told of {audit.findings}"


async def granted(intake: Intake) -> None:
    """Granted once under its key, however often it is asked for, and shown."""
    await grant_budget(intake.store, intake.clock, tenant_id=TENANT, key="more", micro_usd=MORE)
    shown = await show_account(intake.store, TENANT)
    assert [one.micro_usd for one in shown.grants if one.micro_usd == MORE] == [MORE], shown


async def listed(intake: Intake) -> None:
    """Every review that is listed is one."""
    reviews = await list_reviews(intake.store, intake.clock, PAGE)
    assert all(job.state == "needs_review" for job in reviews.jobs), reviews


async def command(world: World, story: Callable[[Intake], Coroutine[Any, Any, None]]) -> None:
    """The operator's command, until it says what became of it."""
    deed: Deed = lambda intake: heard_of(story(intake))  # noqa: E731  # it needs its type
    heard = await ask_until_heard(world, deed, OPERATOR, MOST_TRIES)
    assert heard == Heard(200), heard


async def watch_the_books(world: World) -> None:
    """Verify and grant while the job is under way, and once it has ended."""
    await asyncio.sleep(SOON)
    await command(world, verified)
    await asyncio.sleep(AMIDST)
    await command(world, granted)
    await asyncio.sleep(LATER)
    await command(world, verified)


async def watch_the_reviews(world: World) -> None:
    """List them once there is one."""
    await until_at_rest(world, (await first_job(world)).job_id)
    await command(world, listed)


async def verify(world: World) -> None:
    """Once more, when rows may be gone: of their jobs, entries alone are left."""
    await command(world, verified)


STORIES = (
    Scenario(name="operator-books", also=watch_the_books),
    Scenario(name="operator-reviews", script=(Script.RESET,), also=watch_the_reviews),
    Scenario(name="ttl-books", capability=DEDUPES, at_expiry=verify, new_from=LIFE),
)
