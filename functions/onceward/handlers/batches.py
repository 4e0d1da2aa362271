"""A batch of SQS records on its way to the stories and back: read each body, run, say what becomes of each message."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from onceward.domain.deliveries import (
    Acknowledge,
    DeadLetterUnreadable,
    Disposition,
    after_infrastructure_error,
)
from onceward.domain.tracing import attempt_span, read_traceparent, trace_id_of
from onceward.errors import InfrastructureError
from onceward.usecases.at_once import at_once
from onceward.usecases.deps import Deps
from onceward.usecases.measuring import Metric
from onceward.usecases.measuring_flights import all_metrics
from onceward.usecases.place import place_of
from onceward.usecases.run_batch import put_back, run_batch
from onceward.usecases.run_job import Delivery, RunReport
from onceward.wire.messages import DeadLetterBody, Newer, Unreadable, WakeupBody, parse_message

TRACEPARENT = "traceparent"  # the message attribute that the queue's adapter writes


class BatchWorld(Protocol):
    """One execution environment, as a batch needs it."""

    @property
    def deps(self) -> Deps:
        """The ports of the worker's stories."""
        ...

    @property
    def run(self) -> Callable[[Coroutine[Any, Any, Any]], Any]:
        """Run a story on the environment's one loop."""
        ...

    @property
    def stage(self) -> str:
        """Which stage this is, for its metrics."""
        ...

    def invocation(self) -> AbstractContextManager[None]:
        """The scope of one invocation: nothing that was started in it is left when it ends."""
        ...


@dataclass(frozen=True, slots=True)
class Record:
    """What a batch needs of an SQS record."""

    message_id: str
    receipt: str
    body: str
    receive_count: int
    traceparent: str | None = None

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Self:
        """Read one record of a Lambda event."""
        count = int(record["attributes"]["ApproximateReceiveCount"])
        own = record.get("messageAttributes", {}).get(TRACEPARENT, {}).get("stringValue")
        return cls(record["messageId"], record["receiptHandle"], record["body"], count, read_traceparent(own))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a message; ``facts`` are ids and names fit for a log, ``metrics`` what it adds to those."""

    message_id: str
    disposition: Disposition
    facts: dict[str, Any] = field(default_factory=dict)
    bug: str | None = None
    metrics: tuple[Metric, ...] = ()


def answer_of(outcomes: Iterable[Outcome]) -> dict[str, list[dict[str, str]]]:
    """The invocation's answer: the messages that come back. Always an explicit list: SQS deletes all others."""
    kept = [one for one in outcomes if not isinstance(one.disposition, Acknowledge | DeadLetterUnreadable)]
    return {"batchItemFailures": [{"itemIdentifier": one.message_id} for one in kept]}


async def handle_batch(deps: Deps, records: Sequence[Record], seconds_left: float) -> list[Outcome]:
    """Run all readable records together, keep the unreadable ones, leave newer ones to newer code."""
    ends = deps.clock.monotonic() + seconds_left
    messages = [parse_message(record.body) for record in records]
    known = [
        (at, _delivery(records[at], message, ends))
        for at, message in enumerate(messages)
        if isinstance(message, WakeupBody)
    ]
    odd = [(at, message) for at, message in enumerate(messages) if isinstance(message, Newer | Unreadable)]
    aside = await at_once(*(_set_aside(deps, records[at], message) for at, message in odd))
    reports = await run_batch(deps, [delivery for _, delivery in known])
    outcomes = {at: outcome for (at, _), outcome in zip(odd, aside, strict=True)}
    outcomes |= {at: _outcome(records[at], report) for (at, _), report in zip(known, reports, strict=True)}
    return [outcomes[at] for at in range(len(records))]


def _delivery(record: Record, message: WakeupBody, ends: float) -> Delivery:
    """The delivery that a record is; a dead letter carries the epoch that it may re-open."""
    return Delivery(
        tenant_id=message.tenant_id,
        job_id=message.job_id,
        receipt=record.receipt,
        receive_count=record.receive_count,
        invocation_ends=ends,
        letter_epoch=message.epoch if isinstance(message, DeadLetterBody) else None,
    )


async def _set_aside(deps: Deps, record: Record, message: Newer | Unreadable) -> Outcome:
    """A newer body comes back for newer code; one that nobody can read goes to the dead letters, then ends."""
    later = after_infrastructure_error(record.receive_count, deps.timing)
    if isinstance(message, Newer):
        # However often: it may be a letter, and acknowledged it would be lost. At the end SQS keeps it as one.
        await put_back(deps, record.receipt, later)
        return Outcome(record.message_id, later, {"found": "newer_message", "version": message.schema_version})
    facts = {"found": "unreadable_message", "reason": message.reason}
    try:
        await deps.queue.bury_unreadable(record.body, message.reason)
    except InfrastructureError:
        await put_back(deps, record.receipt, later)
        return Outcome(record.message_id, later, facts)
    return Outcome(record.message_id, DeadLetterUnreadable(message.reason), facts)


def _outcome(record: Record, report: RunReport) -> Outcome:
    """A run's report as its message's outcome."""
    facts: dict[str, Any] = {
        "message_id": record.message_id,
        "receive_count": record.receive_count,
        "disposition": type(report.disposition).__name__,
        "found": report.found,
        "stopped_by": report.stopped_by,
        "notes": sorted(report.notes),
        "redrive": report.redrive,
        "trace_id": trace_id_of(record.traceparent),
    }
    if report.job is not None:
        job = report.job
        facts |= {"trace_id": trace_id_of(job.traceparent or record.traceparent)}
        facts |= {"span_id": attempt_span(job.job_id, job.epoch, job.attempts)} if job.attempts else {}
        facts |= {"tenant_id": job.tenant_id, "job_id": job.job_id, "kind": job.kind, "state": job.state}
        facts |= {"epoch": job.epoch, "attempt": job.attempts, "error_code": job.error_code}
    if report.boarding is not None:
        facts |= {"boarding": report.boarding}
    if report.served is not None:
        facts |= {"served": len(report.served.jobs), "calls_saved": report.served.calls_saved}
    raised = next((one.bug for one in (report, *report.others) if one.bug is not None), None)
    bug = None if raised is None else place_of(raised)
    return Outcome(record.message_id, report.disposition, facts, bug, all_metrics(report))
