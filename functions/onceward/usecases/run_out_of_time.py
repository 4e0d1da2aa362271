"""What follows when an attempt may not send any more, and nobody has cancelled it."""

from __future__ import annotations

from onceward.domain.retry import ErrorClass, Failure, beside_maybe
from onceward.domain.sending import Guard
from onceward.errors import InfrastructureError
from onceward.usecases.deps import Deps
from onceward.usecases.end_run import end_failed
from onceward.usecases.held_job import HeldJob
from onceward.usecases.registry import AnyKind


async def run_out_of_time(deps: Deps, held: HeldJob, kind: AnyKind, code: str) -> None:
    """An attempt whose own time, or whose job's, is up has failed; one that only its invocation cuts is given back."""
    if code != Guard.STOP_TIME:
        raise InfrastructureError("nothing may be sent now", code=code)
    failure = Failure(error_class=ErrorClass.TRANSIENT, code="attempt_timeout")
    await end_failed(deps, held, kind, beside_maybe(held.job, failure))
