"""Violations, one and more for each invariant, done to the tables and logs themselves while a story runs.

The code under test is innocent; the judge must see each of them all the same, by its number.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any

from onceward.domain.ledger import Verb
from onceward.domain.names import JobId, TenantId
from onceward.domain.states import JobState
from tests.simulation.checks.promised import CANARY
from tests.simulation.doors import TENANT
from tests.simulation.kinds import SHARED
from tests.simulation.model import Arrival
from tests.simulation.scenario import Scenario
from tests.simulation.world import World

WHILE_IT_RUNS = 2.0  # virtual seconds: the call of a story of four seconds is under way
WHEN_IT_IS_OVER = 30.0

ALONE = Scenario(name="vandalised")
SHARED_BY_TWO = replace(ALONE, kind=SHARED, requests=("key-1", "key-2"))

type Deed = Callable[[World], None]


@dataclass(frozen=True, slots=True)
class Violation:
    """Which invariant a deed breaks, when it is done, and in which story."""

    invariant: int
    name: str
    deed: Deed
    at: float = WHILE_IT_RUNS
    story: Scenario = ALONE

    @property
    def also(self) -> Callable[[World], Coroutine[Any, Any, None]]:
        """The deed as a story's."""

        async def do(world: World) -> None:
            await asyncio.sleep(self.at)
            self.deed(world)
            for watch in world.watch:  # whoever calls a port next is told so at once
                watch(world.process("vandal"), "store.vandalised")

        return do


def row_with(**fields: Any) -> Deed:
    """Overwrite fields of the only row; a function is given the row."""

    def deed(world: World) -> None:
        (place,) = world.store.rows
        row = world.store.rows[place]
        given = {name: value(row) if callable(value) else value for name, value in fields.items()}
        world.store.rows[place] = replace(row, **given)

    return deed


def lose_the_row(world: World) -> None:
    """As if the create had never been durable."""
    world.store.rows.clear()


def second_row(world: World) -> None:
    """Another job under the same identity and key."""
    ((tenant, identity), row) = next(iter(world.store.rows.items()))
    world.store.rows[tenant, identity + "2"] = row  # type: ignore[index]
    world.store.shards[tenant, identity + "2"] = world.store.shards[tenant, identity]  # type: ignore[index]


def change_an_item(world: World) -> None:
    """Overwrite what is written once."""
    ((owner, items),) = world.store.items.items()
    place = next(iter(items))
    world.store.items[owner][place] = replace(items[place], job_id=JobId("another"))


def foreign_item(world: World) -> None:
    """Put an answer of an attempt that the writer never held."""
    ((owner, items),) = world.store.items.items()
    answer = next(item for place, item in items.items() if place.startswith("call#"))
    world.store.items[owner]["call#0001#ask/2#0009"] = answer


def request(*, key: str | None = None, process: str = "vandal#1", computes: bool = False) -> Deed:
    """Let a request reach the provider that nobody should have sent."""

    def deed(world: World) -> None:
        world.process("vandal")
        first = world.model.log[0]
        arrival = Arrival(
            number=len(world.model.log),
            process=process,
            key=first.key if key is None else key,  # type: ignore[arg-type]
            at=world.loop.time(),
            timeout=40.0,
            done_at=world.loop.time() + 4 if computes else None,
        )
        world.model.log.append(arrival)
        for tell in world.model.on_arrival:
            tell(arrival)

    return deed


def account_with(**fields: Callable[[int], int]) -> Deed:
    """Move money that nothing moves."""

    def deed(world: World) -> None:
        account = world.store.accounts[TENANT]
        moved: dict[str, Any] = {name: move(getattr(account, name)) for name, move in fields.items()}
        world.store.accounts[TENANT] = replace(account, **moved)
        row_with(seq=lambda row: row.seq)(world)

    return deed


def second_release(world: World) -> None:
    """Write an entry of an end that did not come."""
    name, entry = next((name, entry) for (_, name), entry in world.store.entries.items() if "reserve" in name)
    other = replace(entry, verb=Verb.RELEASE)
    world.store.entries[TENANT, name.replace("reserve", "release")] = other
    row_with(seq=lambda row: row.seq)(world)


def foreign_tenant(world: World) -> None:
    """Give an entry to a tenant that has asked for nothing."""
    name, entry = next((name, entry) for (_, name), entry in world.store.entries.items() if "reserve" in name)
    world.store.entries[TenantId("tenant-b"), name] = replace(entry, tenant_id=TenantId("tenant-b"))


def telling_message(world: World) -> None:
    """Send a message that carries what a user wrote."""
    world.queue.bodies.append(f'{{"tenant_id": "tenant-a", "text": "{CANARY}"}}')


def left_task(world: World) -> None:
    """Report an invocation that left something alive."""
    world.errors.append(AssertionError("worker#1 returned and left ['worker#1.beat']"))


def claim_by_older_code(world: World) -> None:
    """Let a process of older code take the job, as if it had just been given back."""
    row_with(state=JobState.QUEUED, lease_until=None)(world)
    old = world.process("vandal")
    for watch in world.watch:
        watch(old, "store.vandalised")
    old.tokens.add("OLD")
    row_with(state=JobState.RUNNING, run_token="OLD", lease_until=lambda row: row.deadline_at)(world)
    for watch in world.watch:
        watch(old, "store.vandalised")


def new_token(row: Any) -> str:
    """A token that no process made."""
    return "Z" * len(row.run_token)


def of_flights(wanted: bool, **fields: Any) -> Deed:
    """Overwrite fields of a flight, or of one that is in it."""

    def deed(world: World) -> None:
        place, row = next((at, row) for at, row in world.store.rows.items() if row.is_flight is wanted)
        world.store.rows[place] = replace(row, **fields)

    return deed


VIOLATIONS = (
    Violation(1, "an accepted job is lost", lose_the_row, WHEN_IT_IS_OVER),
    Violation(1, "a job waits for nothing", row_with(state=JobState.WAITING, seq=lambda row: row.seq + 1)),
    Violation(2, "a terminal row changes", row_with(charge_micro_usd=1), WHEN_IT_IS_OVER),
    Violation(2, "an item changes", change_an_item),
    Violation(2, "an accepted answer is forgotten", row_with(accepted={}), WHEN_IT_IS_OVER),
    Violation(3, "who does not hold the job writes", row_with(attempts=2)),
    Violation(3, "a live lease changes hands", row_with(run_token=new_token)),
    Violation(3, "an item of an attempt never held", foreign_item, WHEN_IT_IS_OVER),
    Violation(4, "too many attempts", row_with(attempts=4)),
    Violation(5, "a request without an intent", request(key="AAAAAAAAAAAAAAAAAAAAAAAAAA-BBBBBBBB-1-ask-x")),
    Violation(6, "a computation is bought again", request(computes=True)),
    Violation(7, "an account does not add up", account_with(available=lambda micro_usd: micro_usd + 1)),
    Violation(7, "an account is negative", account_with(reserved=lambda micro_usd: micro_usd - 100_000)),
    Violation(7, "an entry of no end", second_release),
    Violation(8, "two jobs of one key", second_row),
    Violation(
        8, "a key's job is followed by another too early", row_with(job_id=lambda row: row.identity + "-LATERONE")
    ),
    Violation(9, "money of a tenant without a job", foreign_tenant),
    Violation(10, "a request that no one recorded", request()),
    Violation(12, "content in a message", telling_message),
    Violation(13, "one is cancelled for another", of_flights(False, state=JobState.CANCELLED), story=SHARED_BY_TWO),
    Violation(13, "a flight forgets who waits for it", of_flights(True, participants=1), story=SHARED_BY_TWO),
    Violation(14, "an open job is not due", row_with(due=None)),
    Violation(15, "an epoch without a re-opening", row_with(epoch=2)),
    Violation(16, "a request after the end", request(), WHEN_IT_IS_OVER),
    Violation(17, "a task is left", left_task),
    Violation(18, "older code takes a newer job", claim_by_older_code),
)
