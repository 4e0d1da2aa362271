"""The fault alphabet, and a plan: which fault strikes at which boundary.

A boundary is one crossing of one port call, numbered by the harness in the order in which a run makes them. Two runs
of the same scenario and seed are equal up to the first fault, so a number taken from the fault-free run names the same
instant in the faulted one; numbers behind the first fault are taken from the run that has it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum


class Fault(StrEnum):
    """What may go wrong at a boundary."""

    CRASH_BEFORE = "crash_before"  # the process ends; the call never left
    CRASH_AFTER = "crash_after"  # the call took effect, then the process ends
    ERROR_BEFORE = "error_before"  # refused without effect
    LOST_ANSWER = "lost_answer"  # took effect, and the answer never came
    LATE_EFFECT = "late_effect"  # the answer never came, and the call takes effect only after that
    SDK_RETRY = "sdk_retry"  # took effect, the answer was lost, the SDK asked again: the second answer is returned
    LATE_RETRY = "late_retry"  # as above, after the SDK's read timeout: others have had time in between
    THROTTLE = "throttle"  # refused without effect, and so is every call of this port for a while, whoever makes it
    CONFLICT = "conflict"  # a transaction kept conflicting with others
    STALE = "stale"  # an index answers as it was a minute ago
    CLOCK_AHEAD = "clock_ahead"  # the process's wall clock is set forward by as much as clocks may differ
    CLOCK_BEHIND = "clock_behind"  # as above, backward
    FREEZE_BEFORE = "freeze_before"  # the whole process sleeps longer than a lease, then the call is made
    FREEZE_AFTER = "freeze_after"  # the call is made, then the whole process sleeps longer than a lease
    PAUSE_BEFORE = "pause_before"  # the whole process sleeps shorter than its lease, longer than the send window
    PAUSE_AFTER = "pause_after"  # as above, after the effect
    STARVE_BEFORE = "starve_before"  # only the event loop stands still; the heartbeat's thread goes on
    STARVE_AFTER = "starve_after"  # as above, after the effect
    DUPLICATE = "duplicate"  # a message is delivered once more, at the same time
    DELAY = "delay"  # a message reaches its receiver minutes late
    REORDER = "reorder"  # the messages of a batch come one by one, the last one first
    INVOKE_THROTTLED = "invoke_throttled"  # Lambda has no room for an invocation, for minutes; its source backs off
    OLDER_CODE = "older_code"  # a deploy is rolled back for some minutes: workers know the kinds' last versions only
    TTL_ROWS = "ttl_rows"  # before the call, rows whose time is over are deleted; what lies beside them is still there
    TTL_ITEMS = "ttl_items"  # as above, what lies beside such rows; they are still there
    SDK_LOST = "sdk_lost"  # under the real SDK: the first answer is lost after the effect, the SDK asks again
    SDK_LOST_ALL = "sdk_lost_all"  # as above, and so is every further answer of this request
    SDK_RESET = "sdk_reset"  # under the real SDK: the first send never arrives
    SDK_RESET_ALL = "sdk_reset_all"  # as above, and no further one does
    SDK_THROTTLE = "sdk_throttle"  # under the real SDK: the first send is answered by "too fast"
    SDK_THROTTLE_ALL = "sdk_throttle_all"  # as above, and so is every further one
    NEWER_CODE = "newer_code"  # a deploy: workers have the next version of every kind from now on


AT_CALLS = (
    Fault.CRASH_BEFORE,
    Fault.CRASH_AFTER,
    Fault.ERROR_BEFORE,
    Fault.LOST_ANSWER,
    Fault.FREEZE_BEFORE,
    Fault.FREEZE_AFTER,
    Fault.PAUSE_BEFORE,
    Fault.PAUSE_AFTER,
    Fault.STARVE_BEFORE,
    Fault.STARVE_AFTER,
    Fault.THROTTLE,
    Fault.CLOCK_AHEAD,
    Fault.CLOCK_BEHIND,
)
AT_WRITES = (*AT_CALLS, Fault.LATE_EFFECT, Fault.SDK_RETRY, Fault.LATE_RETRY)
# An unheard read is one that failed, and who dies after a read has died before it: nothing tells the two apart.
AT_READS = tuple(fault for fault in AT_CALLS if fault not in (Fault.LOST_ANSWER, Fault.CRASH_AFTER))

TTL = (Fault.TTL_ROWS, Fault.TTL_ITEMS)  # early and late: at each call from then on; never: without the fault
OF_STORE = (*AT_READS, *TTL)
OF_INDEX = (*OF_STORE, Fault.STALE)

ALPHABET: dict[str, tuple[Fault, ...]] = {
    "store.get_job": OF_STORE,
    "store.get_cold": OF_STORE,
    "store.list_cold": OF_STORE,
    "store.get_account": OF_STORE,
    "store.get_flight": OF_STORE,
    "store.due_page": OF_INDEX,
    "store.tenant_page": OF_INDEX,
    "store.list_entries": OF_STORE,
    "store.update_job": (*AT_WRITES, *TTL),
    "store.put_cold": (*AT_WRITES, *TTL),
    "store.transact": (*AT_WRITES, Fault.CONFLICT, *TTL),
    "store.switched_off": AT_READS,
    "store.get_breaker": AT_READS,
    "store.count_due": OF_INDEX,
    "queue.hide": tuple(fault for fault in AT_WRITES if fault is not Fault.SDK_RETRY),  # the same visibility once more
    "blob.get": AT_READS,
    "blob.head": AT_READS,
    "provider.generate": AT_CALLS,  # provider clients retry nothing by themselves
    "provider.lookup": AT_READS,
    "provider.poll": AT_READS,
    "provider.stop": AT_CALLS,
    "provider.forget": AT_CALLS,
    "events.receive": (
        Fault.CRASH_BEFORE,
        Fault.DUPLICATE,
        Fault.DELAY,
        Fault.REORDER,
        Fault.INVOKE_THROTTLED,
        Fault.OLDER_CODE,
        Fault.NEWER_CODE,
    ),
    "events.delete": (Fault.LOST_ANSWER,),
}


NOTHING: frozenset[Fault] = frozenset()
NO_TTL = frozenset(TTL)


# What the network does under the SDK; what the process suffers at its calls is the other stories' part.
UNDER_SDK = (
    Fault.SDK_LOST,
    Fault.SDK_LOST_ALL,
    Fault.SDK_RESET,
    Fault.SDK_RESET_ALL,
    Fault.SDK_THROTTLE,
    Fault.SDK_THROTTLE_ALL,
)


def faults_at(name: str) -> tuple[Fault, ...]:
    """What can go wrong at a call; a call not named in the table is a write, with all that can happen to one."""
    if name.startswith("sdk."):
        return UNDER_SDK
    return ALPHABET.get(name, AT_WRITES)


@dataclass(slots=True)  # not frozen: freezing doubles what one costs, and a run makes a hundred
class Boundary:
    """One crossing: its number, who made it, which call it was, and when (virtual seconds).

    ``alike``: the faults that at this instant differ in nothing from another one, or from none.
    """

    index: int
    process: str
    name: str
    at: float
    alike: frozenset[Fault] = NOTHING

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What can strike here, each thing once."""
        return tuple(fault for fault in faults_at(self.name) if fault not in self.alike)

    def __str__(self) -> str:
        """One line of a trace."""
        return f"#{self.index} {self.at:9.3f}s {self.process} {self.name}"


@dataclass(frozen=True, slots=True)
class Plan:
    """The faults of one run, by boundary number."""

    faults: tuple[tuple[int, Fault], ...] = ()

    def at(self, index: int) -> Fault | None:
        """The fault planned for a boundary."""
        return next((fault for at, fault in self.faults if at == index), None)

    def plus(self, index: int, fault: Fault) -> Plan:
        """One more fault."""
        return Plan((*self.faults, (index, fault)))

    @property
    def last(self) -> int:
        """The number of the last planned boundary; -1 for none."""
        return max((at for at, _ in self.faults), default=-1)

    def __str__(self) -> str:
        """The plan as it is typed to replay it."""
        return ",".join(f"{at}:{fault}" for at, fault in self.faults) or "none"

    @classmethod
    def parse(cls, text: str) -> Plan:
        """Read what ``str`` wrote."""
        if text == "none":
            return cls()
        pairs = (part.split(":") for part in text.split(","))
        return cls(tuple((int(at), Fault(fault)) for at, fault in pairs))


@dataclass(slots=True)
class Counter:
    """Numbers the boundaries of one run and remembers which faults of the plan have struck.

    ``stands_for``: the fault that would have come to the same in the place of the last one that struck.
    """

    plan: Plan
    trace: list[Boundary] = field(default_factory=list)
    struck: list[tuple[Boundary, Fault]] = field(default_factory=list)
    late: list[asyncio.Task[None]] = field(default_factory=list)
    throttled: dict[str, float] = field(default_factory=dict)
    stands_for: Fault | None = None
    is_over: bool = False
    untimely: frozenset[Fault] = NO_TTL
    expire: Callable[[Fault], None] = lambda _: None
    _planned: dict[int, Fault] = field(init=False)
    _last: int = field(init=False)

    def __post_init__(self) -> None:
        """Look the plan's faults up by number."""
        self._planned = dict(self.plan.faults)
        self._last = self.plan.last

    @property
    def is_past_plan(self) -> bool:
        """Whether the next boundary is behind all that is planned, so that another fault may be."""
        return len(self.trace) > self._last

    def cross(self, process: str, name: str, at: float, *, alike: frozenset[Fault] = NOTHING) -> Fault | None:
        """Number one crossing and tell its fault, if the plan has one here; nothing counts once the story is over."""
        if self.is_over:
            return None
        boundary = Boundary(len(self.trace), process, name, at, alike)
        self.trace.append(boundary)
        fault = self._planned.get(boundary.index)
        if fault is not None:
            self.struck.append((boundary, fault))
            self.stands_for = None
        return fault

    def is_free(self, boundary: Boundary) -> bool:
        """Whether no fault has struck at a boundary, so that one more could have."""
        return boundary.index not in self._planned
