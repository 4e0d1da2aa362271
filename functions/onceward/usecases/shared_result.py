"""A flight's result as text, and each participant's own copy of it.

Every participant gets an item of its own, also where one would do: it is read, kept and erased like any other result,
and no erasure of one job can reach another's.
"""

from __future__ import annotations

from onceward.domain.job import Job
from onceward.domain.records import Answer, Result, answer_place
from onceward.domain.states import JobState
from onceward.errors import BlobUnavailable, InfrastructureError
from onceward.usecases.bodies import load_body, store_body, take_back
from onceward.usecases.charge_job import charge_job
from onceward.usecases.deps import Deps
from onceward.usecases.keep_answer import REPLY


async def shared_text(deps: Deps, flight: Job) -> str:
    """The accepted result of a flight as JSON text; raises ``BlobUnavailable`` if it is not there (any more)."""
    ref = flight.result
    if ref is None:
        raise BlobUnavailable("a flight that succeeded has a result")
    place = Result(tenant_id=flight.tenant_id, job_id=flight.job_id, epoch=ref.epoch, attempt=ref.attempt, body=None)
    sort_key = place.sort_key if ref.step is None else answer_place(ref.epoch, ref.step, ref.attempt)
    item = await deps.store.get_cold(flight.tenant_id, flight.job_id, sort_key)
    if not isinstance(item, Answer | Result):
        raise BlobUnavailable("a shared result is not there")
    text = await load_body(deps.blob, item.body, item.blob_key)
    return text if ref.step is None else REPLY.validate_json(text).text


async def shared_charge(deps: Deps, flight: Job, text: str) -> int:
    """What each participant is charged: the tariff, as if the accepted work had been done for it alone.

    Nobody is charged for what nobody can count: a metered result that this code's model cannot read, or that its
    ``pages_of``, the kind's own code, stumbles over. Raised, it would keep every participant from its end.
    """
    kind = deps.registry.find(flight.kind)
    if kind.policy.metered is None:
        return kind.policy.tariff_micro_usd
    try:
        return await charge_job(deps.store, flight, kind, kind.output_model.model_validate_json(text))
    except InfrastructureError:
        raise
    except Exception:  # noqa: BLE001  # as said above
        return 0


async def own_copy(deps: Deps, job: Job, text: str) -> Result:
    """The item that becomes this participant's result; a large body is an object of its own before it."""
    name = f"result/{job.epoch}/{job.attempts}"
    stored = await store_body(deps.blob, job.tenant_id, job.job_id, name, text)
    return Result(
        tenant_id=job.tenant_id,
        job_id=job.job_id,
        epoch=job.epoch,
        attempt=job.attempts,
        body=stored.body,
        blob_key=stored.blob_key,
    )


async def take_copy_back(deps: Deps, copy: Result, row: Job | None) -> None:
    """Erase a copy's object once its job can never accept it: no item would name it to an erasure.

    A copy that is still wanted has the same object, whoever makes it, so a job that may still succeed keeps it.
    """
    if row is None or row.job_id != copy.job_id or row.state is JobState.SUCCEEDED:
        return
    if row.state.is_terminal or row.cancel_requested_at is not None:
        await take_back(deps.blob, copy.blob_key)
