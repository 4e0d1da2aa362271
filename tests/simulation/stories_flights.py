"""The stories of flights: participants, the flight, cancels, failures, reviews, deadlines and limits.

Equal requests under different keys are what coalesces. A worker that dies is in all of them: it is a fault like others.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from onceward.domain.coalescing import CoalesceBy, FlightLimits, OnEmpty
from onceward.usecases.registry import Registry
from tests.simulation.doors import identity_under
from tests.simulation.kinds import SHARED
from tests.simulation.model import LOOKUP, Script
from tests.simulation.scenario import Scenario

if TYPE_CHECKING:
    from onceward.domain.job import Job
    from tests.simulation.invariants import Checker
    from tests.simulation.world import World

TWO = ("key-1", "key-2")
THREE = (*TWO, "key-3")
SOON = 5.0  # seconds after the rest until a person decides
LONG = 70.0  # seconds of a call: longer than a lease
LONGER = 150.0  # and longer than a participant needs, whatever its clock, to see that its own time is over
EARLY, AMIDST, LATE = 0.1, 2.0, 20.0  # seconds after the 202: before the join, while the model answers, after the end
AT_REST = 5.0  # virtual seconds: until then it is the story of the review alone, `shared-reset`
HASTY = timedelta(seconds=40)  # the deadline of one that does not wait for a long call
ONE = ("key-1",)  # where it is told of the flight, and another participant would be told the same
BUSY = (Script.BUSY,)
DROPS, FINISHES = "sim.shared_drops", "sim.shared_finishes"


def more_kinds(registry: Registry) -> None:
    """Kinds like the shared one, with other words for what nobody waits for."""
    shared = registry.find(SHARED)
    for name, on_empty in ((DROPS, OnEmpty.CANCEL), (FINISHES, OnEmpty.FINISH)):
        policy = replace(shared.policy, name=name, coalesce=CoalesceBy(instructions="", on_empty=on_empty))
        registry.kind(policy=policy, input_model=shared.input_model, output_model=shared.output_model)(shared.run)


def hasty(who: Callable[[World, Job], bool]) -> Callable[[World], Coroutine[Any, Any, None]]:
    """Some rows are born with a deadline within the time of one long call."""

    async def hasten(world: World) -> None:
        born: set[str] = set()

        def shorten(*_: object) -> None:
            for place, row in world.store.rows.items():
                if row.job_id not in born and row.seq == 1 and who(world, row):
                    world.store.rows[place] = replace(row, deadline_at=row.created_at + HASTY)
                born.add(row.job_id)

        world.watch.insert(0, shorten)  # before the judge looks: to him a deadline never moves

    return hasten


def is_second(world: World, row: Job) -> bool:
    """Whether it is the second client's job."""
    return row.identity == identity_under(TWO[1])


def is_first_flight(world: World, row: Job) -> bool:
    """Whether no flight was there before."""
    return row.is_flight and not any(one.is_flight and one != row for one in world.store.rows.values())


def ends(cancelled: int = 0, failed: int = 0) -> Callable[[Checker], None]:
    """A judge of the clients' jobs where nothing goes wrong: so many end otherwise than by the shared result."""

    def judge(checker: Checker) -> None:
        if checker.world.counter.struck:
            return
        states = [str(row.state) for row in checker.world.store.rows.values() if row.participants is None]
        found = (states.count("cancelled"), states.count("failed"), states.count("succeeded"))
        expected = (cancelled, failed, len(states) - cancelled - failed)
        checker.expect(13, found == expected, f"{found} cancelled, failed and succeeded, not {expected}")

    return judge


FLOWN = Scenario(name="shared", kind=SHARED, requests=TWO, judge=ends())
IN_REVIEW = replace(FLOWN, script=(Script.RESET,), judge=None)
STORIES = (
    replace(FLOWN, requests=THREE),
    replace(FLOWN, name="shared-in-one-batch", concurrency=1),
    replace(FLOWN, name="shared-slow", call_seconds=LONG, capability=LOOKUP, requests=ONE),
    replace(FLOWN, name="shared-no-budget", grant=None, requests=ONE),
    replace(FLOWN, name="shared-other-question", requests=("key-1", "key-2/another text")),
    replace(FLOWN, name="shared-full", flight_limits=FlightLimits(participants=1, flights=1)),
    # It fails: each goes on by its own policy.
    replace(FLOWN, name="shared-busy-once", script=BUSY),
    replace(FLOWN, name="shared-busy", script=BUSY, most_attempts=1, judge=ends(failed=2)),
    replace(FLOWN, name="shared-redriven", script=BUSY, most_attempts=1, requests=ONE, redrives=1),
    replace(FLOWN, name="shared-rejected", script=(Script.REJECTED,), judge=ends(failed=2)),
    # It goes to review, and a person decides.
    replace(IN_REVIEW, name="shared-reset"),
    replace(IN_REVIEW, name="shared-reset-lookup", capability=LOOKUP, requests=ONE),
    replace(IN_REVIEW, name="shared-accepted", new_from=AT_REST, verdicts=((("accept", SOON),),), judge=ends()),
    replace(IN_REVIEW, name="shared-refused", requests=ONE, verdicts=((("fail", SOON),),), judge=ends(failed=1)),
    replace(IN_REVIEW, name="shared-again", requests=ONE, verdicts=((("retry", SOON),),), judge=ends()),
    # Some leave, or all.
    replace(FLOWN, name="shared-first-leaves", cancel_at=AMIDST, cancelling=("key-1",), judge=ends(cancelled=1)),
    replace(FLOWN, name="shared-second-leaves", cancel_at=EARLY, cancelling=("key-2",), judge=ends(cancelled=1)),
    replace(FLOWN, name="shared-all-leave-early", requests=ONE, cancel_at=EARLY, judge=ends(cancelled=1)),
    replace(FLOWN, name="shared-all-leave", cancel_at=AMIDST, judge=ends(cancelled=2)),
    replace(
        FLOWN,
        name="shared-all-leave-dropped",
        requests=ONE,
        kind=DROPS,
        kinds=more_kinds,
        call_seconds=LONG,
        cancel_at=AMIDST,
        judge=ends(cancelled=1),
    ),
    replace(
        FLOWN,
        name="shared-all-leave-finished",
        requests=ONE,
        kind=FINISHES,
        kinds=more_kinds,
        cancel_at=AMIDST,
        judge=ends(cancelled=1),
    ),
    replace(IN_REVIEW, name="shared-leaves-review", new_from=AT_REST, cancel_at=LATE, cancelling=("key-1",)),
    # A deadline of its own, and the flight's.
    replace(
        FLOWN,
        name="shared-hasty",
        call_seconds=LONGER,
        script=(Script.ANSWER,),
        also=hasty(is_second),
        judge=ends(failed=1),
    ),
    replace(
        FLOWN,
        name="shared-flight-late",
        requests=ONE,
        script=(Script.ANSWER,),
        also=hasty(is_first_flight),
    ),
)
