"""What a scenario is: who asks for what, how the provider behaves, how the stack is configured."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from onceward.domain.breaking import BreakerRule
from onceward.domain.coalescing import FlightLimits
from onceward.domain.policy import Capability, OnUnknown
from onceward.domain.tally import Limits
from onceward.domain.timing import Timing
from onceward.usecases.registry import Registry
from onceward.usecases.submit_job import NO_LIMITS
from tests.simulation.checks.promised import MOST_ATTEMPTS
from tests.simulation.doors import Door, StoryDoor
from tests.simulation.kinds import ONE_CALL, TARIFF
from tests.simulation.model import NONE, ModelLine, Script

if TYPE_CHECKING:
    from tests.simulation.invariants import Checker
    from tests.simulation.world import World

TIMING = Timing()
STORY_DOOR = StoryDoor()
NO_FLIGHT_LIMITS = FlightLimits()  # as far as a story goes
FUNCTION_SECONDS = 420.0  # the worker's own timeout: longer than an attempt and what follows it
MAX_RECEIVE_COUNT = 50  # 2 x the most attempts (20) + 10, as the stack asserts
FREEZE_SECONDS = 150.0  # two leases and a half: a thief has taken the job over and finished before the thaw
OLD_CODE_SECONDS = 100.0  # for how long a deploy stays rolled back
CLIENT_PATIENCE = 30.0  # the HTTP API hangs up then
CLIENT_RETRY = 2.0
MOST_TRIES = 8
SWEEP_SECONDS = 60.0

# Once faults have stopped, every accepted job has ended within this. The longest way there: a freeze, the lease after
# it, the sweeper's longest step and one pass (10 + 1 min), the wait for a conclusive lookup (2 min), and the runs.
LIVENESS_SECONDS = 20 * 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One story. ``grant``: the tenant's budget, ``None`` for unlimited; ``requests``: the clients, by their key.

    ``redrives``: how often an operator moves all dead letters back once nothing moves any more, each letter
    ``copies`` times; ``cancel_at``: seconds after its 202 a client cancels its job, each or those whose keys
    ``cancelling`` names; ``off``: between which seconds everything is switched off; ``worker_tariff``: a deploy
    between create and settle has changed the price; ``odd_lookups``: how many lookups are answered by what no code can
    read; ``verdicts``: what persons decide, once nothing moves any more, in rounds of (resolution, seconds after the
    rest), those of a round at once; ``most_attempts``: of the kinds that all stories know, per epoch;
    ``most_in_flight``: of the tenant's jobs; ``breaker``: the workers' circuit breakers, if they have any;
    ``flight_limits``: beyond which a job runs on its own.

    ``door``: how clients come in; ``by_handlers``: worker and sweeper are entered where Lambda enters them, not at the
    stories right behind their handlers; ``line``: how the provider is spoken to; ``patience``: seconds that its work
    takes beyond the stated bound.

    What a story brings along if data is not enough: ``kinds``: registers a story's own kinds;
    ``also``: what happens beside the clients' requests, such as an operator's deed (it may wait on the world's loop
    and call use cases through ``World.start_api``); ``judge``: what else must hold at the end; ``at_expiry``: what
    happens when the time is over for which rows are kept, if all jobs have ended: their 90 days pass first;
    ``new_from``: up to this second it is another story, which meets the single faults there.
    """

    name: str
    kind: str = ONE_CALL
    capability: Capability = NONE
    on_unknown: OnUnknown = OnUnknown.REVIEW
    call_seconds: float = 4.0
    script: tuple[Script, ...] = ()
    requests: tuple[str, ...] = ("key-1",)
    grant: int | None = 10_000
    limits: Limits = NO_LIMITS
    batch_size: int = 10
    concurrency: int = 4
    skew_seconds: float = 1.0  # half the allowance: any two clocks then differ by at most all of it
    loses_first_message: bool = False
    timing: Timing = TIMING
    call_slots: int = 4
    redrives: int = 0
    copies: int = 1
    cancel_at: float | None = None
    cancelling: tuple[str, ...] = ()
    off: tuple[float, float] | None = None
    worker_tariff: int = TARIFF
    odd_lookups: int = 0
    door: Door = STORY_DOOR
    by_handlers: bool = False
    line: type[ModelLine] = ModelLine
    patience: float = 0.0
    verdicts: tuple[tuple[tuple[str, float], ...], ...] = ()
    most_attempts: int = MOST_ATTEMPTS
    most_in_flight: int | None = None
    breaker: BreakerRule | None = None
    flight_limits: FlightLimits = NO_FLIGHT_LIMITS
    kinds: Callable[[Registry], None] | None = None
    also: Callable[[World], Coroutine[Any, Any, None]] | None = None
    judge: Callable[[Checker], None] | None = None
    at_expiry: Callable[[World], Coroutine[Any, Any, None]] | None = None
    new_from: float = 0.0

    @property
    def visibility(self) -> timedelta:
        """The queue's own: six times the function's timeout, as AWS advises."""
        return timedelta(seconds=6 * FUNCTION_SECONDS)
