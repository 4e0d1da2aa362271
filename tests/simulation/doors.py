"""The doors to the API: what clients and persons ask for, and what they hear.

A door makes a *deed* of each wish: what one process of the API does with it. The stories' own door calls the use case
behind the route; ``http_door.py`` has the one that clients really come through.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from onceward.domain.action_records import Seen
from onceward.domain.job import Job
from onceward.domain.names import Fingerprint, Identity, JobId, TenantId
from onceward.errors import InfrastructureError, KeyReused, RequestError
from onceward.handlers.problems import status_of
from onceward.usecases.actions import PREFIX
from onceward.usecases.approve_action import approve_action
from onceward.usecases.cancel_job import cancel_job
from onceward.usecases.note_attempt import Transport, note_attempt
from onceward.usecases.read_action import find_action_job
from onceward.usecases.reset_action import reset_action
from onceward.usecases.resolve_job import Verdict, resolve_job
from onceward.usecases.submit_job import Intake, Submission, submit_job

if TYPE_CHECKING:
    from tests.simulation.world import World

TENANT = TenantId("tenant-a")
OPERATOR, WHY = "operator", "simulated"
RUN_ID = "run-1"
TOLD = Transport(by="client", run_id=RUN_ID)
# A look that runs, an answer that came, an operation that has not ended: whoever asks is told to ask again.
LATER = frozenset({"review_looking", "answer_arrived", "operation_in_progress"})
UNHEARD, BROKEN = 504, 502  # of the gateway: nothing in time, a function that has died
OURS = 500  # and above: asking again may help


@dataclass(frozen=True, slots=True)
class Heard:
    """An answer: its status, the code of what is wrong, the job that it is about; ``body``: what a route answers."""

    status: int
    code: str | None = None
    job_id: JobId | None = None
    body: Any = None

    @property
    def is_final(self) -> bool:
        """Whether whoever hears it knows enough to stop asking."""
        return self.status < OURS and self.code not in LATER


type Deed = Callable[[Intake], Coroutine[Any, Any, Heard]]


class Door(Protocol):
    """What can be asked for at every door, as deeds of one process."""

    def create(self, world: World, key: str, text: str) -> Deed:
        """A job, or an action, under a key."""
        ...

    def cancel(self, world: World, job_id: JobId) -> Deed:
        """The end of a job."""
        ...

    def resolve(self, world: World, verdict: Verdict) -> Deed:
        """A person's word on a review."""
        ...

    def approve(self, world: World, row: Job, fingerprint: str) -> Deed:
        """A person's approval of an action with these arguments."""
        ...

    def reset(self, world: World, row: Job, epoch: int) -> Deed:
        """A person's wish to run again an action that failed in that epoch."""
        ...


class StoryDoor:
    """Right at the use cases, past the routes: the door of most stories."""

    def create(self, world: World, key: str, text: str) -> Deed:
        """Submit it and, of an action, keep what this attempt came to."""
        wish = submission(world.scenario.kind, key, text)
        return lambda intake: heard_of(_submitted(intake, wish), 202)

    def cancel(self, world: World, job_id: JobId) -> Deed:
        """As the route does."""
        return lambda intake: heard_of(
            cancel_job(intake.store, intake.queue, intake.clock, intake.ids, tenant_id=TENANT, job_id=job_id)
        )

    def resolve(self, world: World, verdict: Verdict) -> Deed:
        """As the route does."""
        return lambda intake: heard_of(resolve_job(intake, verdict))

    def approve(self, world: World, row: Job, fingerprint: str) -> Deed:
        """As the route does."""
        return lambda intake: heard_of(
            approve_action(intake, TENANT, row.identity, fingerprint=Fingerprint(fingerprint), by=OPERATOR, why=WHY)
        )

    def reset(self, world: World, row: Job, epoch: int) -> Deed:
        """As the route does."""
        return lambda intake: heard_of(reset_action(intake, TENANT, row.identity, epoch=epoch, by=OPERATOR, why=WHY))


def identity_under(key: str) -> Identity:
    """The name of the row that a request under a key is."""
    digest = hashlib.sha256(f"{TENANT}/{key}".encode()).digest()
    return Identity(base64.b32encode(digest).decode()[:26])


def submission(kind: str, key: str, text: str) -> Submission:
    """The request under a key, as the handler would pass it on."""
    return Submission(
        tenant_id=TENANT,
        identity=identity_under(key),
        fingerprint=Fingerprint(hashlib.sha256(text.encode()).hexdigest()),
        kind=kind,
        input={"text": text},
        created_by="client",
    )


async def _submitted(intake: Intake, wish: Submission) -> Job:
    """What the routes do with a request."""
    if not wish.kind.startswith(PREFIX):
        return (await submit_job(intake, wish)).job
    try:
        kept = await submit_job(intake, wish)
    except KeyReused:
        job = await find_action_job(intake.store, intake.clock, wish.tenant_id, wish.identity)
        await note_attempt(intake.store, intake.clock, intake.ids, job, TOLD, Seen.REFUSED)
        raise
    came_to = Seen.CREATED if kept.is_new else Seen.REPLAYED
    await note_attempt(intake.store, intake.clock, intake.ids, kept.job, TOLD, came_to)
    return kept.job


async def heard_of(story: Awaitable[object], status: int = 200) -> Heard:
    """What the handler would answer; only a story that ends with a row tells which job it is about."""
    try:
        end = await story
    except (RequestError, InfrastructureError) as refused:
        return Heard(status_of(refused), refused.code)
    return Heard(status, job_id=end.job_id if isinstance(end, Job) else None)
