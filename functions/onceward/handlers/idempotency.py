"""Powertools' idempotency over the job row: its record *is* the row, so there is no second one that can disagree.

A shell around one story, ``submit_job``, which is what tests, simulation and request counts run too. ``_put_record``
is that story: when it returns, the job is durable and its message is sent. An existing row is answered as a completed
record with its own fingerprint; Powertools compares it with the request's once more, and can only agree. Completion and
deletion write nothing: a job that is durable stays so whatever happens after.

Powertools is synchronous, so the async store runs on the handler's own loop; what the store raises comes back wrapped
and is unwrapped here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Any

from aws_lambda_powertools.utilities.idempotency import IdempotencyConfig, idempotent_function
from aws_lambda_powertools.utilities.idempotency.exceptions import (
    IdempotencyItemAlreadyExistsError,
    IdempotencyItemNotFoundError,
    IdempotencyPersistenceLayerError,
)
from aws_lambda_powertools.utilities.idempotency.persistence.base import BasePersistenceLayer
from aws_lambda_powertools.utilities.idempotency.persistence.datarecord import STATUS_CONSTANTS, DataRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from onceward.errors import OncewardError
from onceward.usecases.submit_job import Intake, Kept, Submission, submit_job

type Run = Callable[[Coroutine[Any, Any, Any]], Any]


class JobRow(BasePersistenceLayer):
    """One request's record: the row of its key."""

    def __init__(self, submit: Callable[[], Kept]) -> None:
        """``submit`` is the whole story of one request."""
        super().__init__()  # type: ignore[no-untyped-call]  # Powertools' own, without annotations
        self._submit = submit
        self.kept: Kept | None = None

    def _put_record(self, data_record: DataRecord) -> None:
        """Tell the story; raise what Powertools expects if the key had a job already."""
        self.kept = self._submit()
        if self.kept.is_new:  # also when the SDK retried our own applied write
            return
        existing = DataRecord(
            idempotency_key=data_record.idempotency_key,
            status=STATUS_CONSTANTS["COMPLETED"],
            response_data=json.dumps({"job_id": self.kept.job.job_id}),
            payload_hash=self._generate_hash(self.kept.job.fingerprint),
        )
        self._validate_payload(data_record, existing)
        raise IdempotencyItemAlreadyExistsError(old_data_record=existing)

    def _get_record(self, idempotency_key: str) -> DataRecord:  # noqa: ARG002 - Powertools' signature
        """Never asked: the refused write brought the row along."""
        raise IdempotencyItemNotFoundError

    def _update_record(self, data_record: DataRecord) -> None:
        """Write nothing: the job is what is completed, by a worker."""

    def _delete_record(self, data_record: DataRecord) -> None:
        """Write nothing: a durable job is not undone by a lost message."""


def submit_once(intake: Intake, wish: Submission, run: Run, context: LambdaContext) -> Kept:
    """Submit the job by way of Powertools; raises what ``submit_job`` raises."""
    row = JobRow(lambda: run(submit_job(intake, wish)))
    config = IdempotencyConfig(
        event_key_jmespath="identity",
        payload_validation_jmespath="fingerprint",
        hash_function="sha256",
        raise_on_no_idempotency_key=True,
        lambda_context=context,
    )

    def tell(*, command: dict[str, str]) -> dict[str, str]:  # noqa: ARG001 - what Powertools keys and compares by
        return {"job_id": _durable(row).job.job_id}

    once = idempotent_function(
        tell, data_keyword_argument="command", persistence_store=row, config=config, key_prefix="onceward"
    )
    try:
        once(command={"identity": wish.identity, "fingerprint": wish.fingerprint})
    except IdempotencyPersistenceLayerError as error:
        raise _cause(error) from None
    return _durable(row)


def _durable(row: JobRow) -> Kept:
    """The kept job. Powertools can be switched off by its variable; then nothing is stored and nothing may be said."""
    if row.kept is None:
        raise OncewardError("idempotency is switched off, so nothing was stored")
    return row.kept


def _cause(error: IdempotencyPersistenceLayerError) -> Exception:
    """What the store raised, out of Powertools' wrapping."""
    return error.__cause__ if isinstance(error.__cause__, Exception) else error
