"""What passes: a target that is switched off, an open circuit breaker, a process whose slots are all taken.

The job waits, and no attempt is burnt by it.
"""

from __future__ import annotations

from onceward.domain.claim import Claim
from onceward.domain.ending import wait_change
from onceward.domain.sending import Guard
from onceward.domain.states import CallState, WaitingFor
from onceward.errors import InfrastructureError
from onceward.usecases.deps import Deps
from onceward.usecases.held_job import HeldJob
from onceward.usecases.question import full_model_name


async def may_begin(deps: Deps, held: HeldJob) -> None:
    """Begin no next attempt that could send nothing; raises ``InfrastructureError``, by which the claim is given back.

    A probe's place is not taken here: the attempt takes it when it comes to its call, or waits as itself.
    """
    await deps.switches.refresh()
    if deps.switches.is_off(held.job.kind, deps.provider.name):
        raise InfrastructureError("no attempt begins while switched off", code=Guard.STOP_SWITCHED_OFF)
    if deps.breakers is not None and not await deps.breakers.may_try(full_model_name(deps.provider)):
        raise InfrastructureError("no attempt begins while the breaker is open", code=Guard.STOP_BREAKER_OPEN)


async def wait_for_target(deps: Deps, held: HeldJob, claim: Claim, code: str) -> None:
    """An attempt that sent nothing is given back (by the caller), any other goes on later, as itself.

    That is only right if a second run of it sends no step again: all that it sent is accepted, or its
    provider works on it.
    """
    held.heed_cancel()
    waiting = {call.step for call in held.job.open if call.state is CallState.SUBMITTED}
    has_open = not held.sent <= held.job.accepted.keys() | waiting
    if has_open or (claim is Claim.START and not held.sent):
        raise InfrastructureError("nothing may be sent there now", code=code)
    spread = deps.ids.jitter() if code == Guard.STOP_BREAKER_OPEN else 0.0  # what waits together wakes apart
    wake_at = deps.clock.now() + deps.timing.infrastructure_backoff * (1 + spread)
    await held.move(lambda job: wait_change(job, held.token, wake_at, WaitingFor.PROVIDER, deps.timing))
