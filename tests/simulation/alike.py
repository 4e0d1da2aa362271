"""Which faults at a call differ in nothing from another one, or from none: the arguments, each in one place.

Nothing is tried twice, neither as a first fault nor as a second. What a fault is alike to must be tried itself: so no
fault stands for another where one has struck already. ``test_alike.py`` plays both and compares.

- *Nobody to starve*: without a heartbeat a starved event loop is a frozen process.
- *A clock that is off already*, by as much as it may, cannot be set there.
- *A clock that nobody has looked at* since the process's last call might as well have been set at that call.
- *Dying now is having died then*, if nothing at all has happened since the process's last call took effect: no call of
  anybody, and no time but the call's own moment, by which all that follows is later. So is falling asleep, for a
  process that does nothing else beside and has not looked at its clock: it makes the same call when it wakes.
- *A call that is refused anyhow* has no effect after which anything could happen, and no answer that could be lost.
- *No time is over*: TTL takes nothing before its time.
- *A read before a sleep is one after it*, if both are told the same: whoever sleeps before a read makes it at both
  times and compares. So one run stands for the other (``AFTER``), and it takes a run to know.
"""

from __future__ import annotations

import asyncio
from functools import cache
from typing import TYPE_CHECKING

from tests.simulation.faults import Counter, Fault, faults_at

if TYPE_CHECKING:
    from tests.simulation.process import Process

OBEDIENT = frozenset({"store", "queue", "blob"})  # ports whose calls fail by a fault alone: no other answer is an error
STARVING = frozenset({Fault.STARVE_BEFORE, Fault.STARVE_AFTER})
DYING = frozenset({Fault.CRASH_BEFORE})
SLEEPING = frozenset({Fault.FREEZE_BEFORE, Fault.PAUSE_BEFORE})
AFTER = {  # what a sleep before a read may stand for
    Fault.FREEZE_BEFORE: Fault.FREEZE_AFTER,
    Fault.PAUSE_BEFORE: Fault.PAUSE_AFTER,
    Fault.STARVE_BEFORE: Fault.STARVE_AFTER,
}
BEFORE = {after: before for before, after in AFTER.items()}
UNFELT = frozenset(
    {
        Fault.CRASH_AFTER,
        Fault.FREEZE_AFTER,
        Fault.PAUSE_AFTER,
        Fault.STARVE_AFTER,
        Fault.LOST_ANSWER,
        Fault.LATE_EFFECT,
        Fault.SDK_RETRY,
        Fault.LATE_RETRY,
        Fault.STALE,
    }
)


def alike_at(process: Process, counter: Counter, called_at: float, *, is_refused: bool) -> frozenset[Fault]:
    """The faults that are none of their own at a call that a process made at ``called_at`` and comes to now."""
    last = process.last if process.last is not None and counter.is_free(process.last) else None
    is_alone = all(map(asyncio.Task.done, process.beat.tasks))
    is_unread = last is not None and not process.has_read_clock
    is_next = last is not None and last is counter.trace[-1] and called_at <= last.at and port_of(last.name) in OBEDIENT
    return _alike(
        counter.untimely,
        is_alone=is_alone,
        is_ahead=is_unread or process.skew >= process.most_skew,
        is_behind=is_unread or -process.skew >= process.most_skew,
        is_next=is_next,
        is_asleep_alike=is_next and is_unread and is_alone and len(process.main.tasks) == 1,
        is_refused=is_refused,
    )


def may_stand_for(fault: Fault, name: str) -> Fault | None:
    """The same sleep after the call, of a call that has no effect and is answered by a table alone."""
    is_read = Fault.CRASH_AFTER not in faults_at(name) and port_of(name) in OBEDIENT
    return AFTER.get(fault) if is_read else None


def port_of(name: str) -> str:
    """The port that a call is made at."""
    return name.partition(".")[0]


@cache
def _alike(
    untimely: frozenset[Fault],
    *,
    is_alone: bool,
    is_ahead: bool,
    is_behind: bool,
    is_next: bool,
    is_asleep_alike: bool,
    is_refused: bool,
) -> frozenset[Fault]:
    """All of them."""
    ways = (
        (is_alone, STARVING),
        (is_ahead, frozenset({Fault.CLOCK_AHEAD})),
        (is_behind, frozenset({Fault.CLOCK_BEHIND})),
        (is_next, DYING),
        (is_asleep_alike, SLEEPING),
        (is_refused, UNFELT),
    )
    return untimely.union(*(faults for is_so, faults in ways if is_so))
