"""End a job of a kind that no deployed code knows, or park it: none of its code runs, nobody is asked, nothing is sent.

A lookup would ask whichever model is configured now, and might be told "not found" by one that never had the call. So
what is a maybe stays one, and what an answer was worth a person decides, as after three lost runs; the kind may have
had an outside effect, so a cancel does not close its maybe either. The review's own limit ends that too.
"""

from __future__ import annotations

from pydantic import BaseModel

from onceward.domain.claim import is_orphan
from onceward.domain.job import Job
from onceward.domain.policy import KindPolicy
from onceward.errors import JobFailure
from onceward.usecases.context import Context
from onceward.usecases.deps import Deps
from onceward.usecases.end_run import close
from onceward.usecases.held_job import HeldJob
from onceward.usecases.registry import AnyKind, Kind


def kind_of(deps: Deps, job: Job) -> AnyKind:
    """The job's kind; of one that this code does not know only the name, and the worst is assumed of it."""
    return _stand_in(job.kind) if is_orphan(job, deps.registry.limits) else deps.registry.find(job.kind)


async def close_orphan(deps: Deps, held: HeldJob, kind: AnyKind) -> bool:
    """End or park the held job if its kind is not known; ``False``: it is, and this is not the place."""
    if not is_orphan(held.job, deps.registry.limits):
        return False
    held.has_news = False
    held.heed_cancel()
    await close(deps, held, kind, None, is_bare=True)
    return True


def _stand_in(name: str) -> AnyKind:
    """A kind without code."""
    return Kind(
        policy=KindPolicy(name=name, has_outside_effect=True),
        input_model=BaseModel,
        output_model=BaseModel,
        run=_never,
        documents_of=lambda _: (),
        pages_of=lambda _: 0,
    )


async def _never(context: Context, given: BaseModel) -> BaseModel:  # noqa: ARG001 - a kind's signature
    """Not called: a bare closing run runs none of the kind's code."""
    raise JobFailure("this kind is not known", code="unknown_kind")
