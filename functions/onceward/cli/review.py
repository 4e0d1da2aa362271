"""The operator's commands for reviews: what is unknown, and a person's verdict on it.

They work on the tables with the operator's AWS rights, over all tenants. Within one tenant the API does the same for a
token with the scope ``ops``. A result is checked against the kinds of this checkout: use the version that is deployed.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import JsonValue

from onceward.cli.desk import Desk, desk
from onceward.cli.options import AsJson, job_name, tenant_name
from onceward.cli.show import ago, cost, listed, one_line, say, usd
from onceward.domain.job import Job
from onceward.domain.leaving import is_participant
from onceward.domain.names import TenantId
from onceward.domain.resolving import review_since
from onceward.domain.states import JobState, Resolution
from onceward.errors import JobNotFound, MalformedJson
from onceward.handlers.review_views import record_view, review_view
from onceward.usecases.list_reviews import list_reviews
from onceward.usecases.read_review import ReviewReading, read_review
from onceward.usecases.resolve_job import Verdict, resolve_job
from onceward.wire.ijson import read_json
from onceward.wire.reviews import LONGEST_WHY, ReviewRecordView, ReviewView

LIMIT, MOST = 100, 10_000
HEAD = f"{'tenant':16}  {'job':35}  epoch  {'age':>4}  unknown steps  cost"

app = typer.Typer(name="review", help="Unknown outcomes and verdicts on them (for the operator).", no_args_is_help=True)


def _why(text: str) -> str:
    """Refuse what is no reason."""
    if not 0 < len(text.strip()) <= LONGEST_WHY:
        raise typer.BadParameter(f"say why in 1 to {LONGEST_WHY} characters")
    return text


Id = Annotated[str, typer.Argument(metavar="ID", callback=job_name, help="The job's id.")]
Tenant = Annotated[
    str | None,
    typer.Option(metavar="NAME", callback=tenant_name, help="Whose job it is; looked for among the reviews if absent."),
]
Stage = Annotated[str | None, typer.Option(metavar="NAME", help="A deployed stage, whose stacks name its parts.")]
Why = Annotated[str, typer.Option(metavar="TEXT", callback=_why, help="For the record, which is kept: no content.")]
Epoch = Annotated[int | None, typer.Option(min=1, metavar="N", help="The epoch that was looked at; else the present.")]


@app.command(name="list")
def list_all(
    context: typer.Context,
    *,
    tenant: Annotated[
        str | None, typer.Option(metavar="NAME", callback=tenant_name, help="Only this tenant's.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=MOST, help="Look at so many at most.")] = LIMIT,
    stage: Stage = None,
    as_json: AsJson = False,
) -> None:
    """Print the jobs in review: tenant, job, epoch, age, unknown steps, and what they may have cost."""
    with desk(context, stage) as found:
        reviews = found.ask(list_reviews(found.ports.store, found.ports.clock, limit))
        now = found.ports.clock.now()
        chosen = [job for job in reviews.jobs if tenant is None or job.tenant_id == tenant]
        listed(HEAD, [_json(job) if as_json else _line(job, now) for job in chosen], as_json=as_json)
        if reviews.unreadable:
            say(f"{reviews.unreadable} cannot be read by this version and are not listed")
        if reviews.looked_at == limit:
            say(f"looked at {limit}; --limit looks at more")


@app.command()
def show(
    context: typer.Context, *, job_id: Id, tenant: Tenant = None, stage: Stage = None, as_json: AsJson = False
) -> None:
    """Print what is unknown of a job, and the verdicts so far."""
    with desk(context, stage) as found:
        reading = _read(found, tenant, job_id)
        view = review_view(reading)
        print(one_line(view) if as_json else "\n".join(_lines(reading.job.tenant_id, view)))


@app.command()
def accept(  # noqa: PLR0913 - a command's options are its arguments
    context: typer.Context,
    *,
    job_id: Id,
    result: Annotated[
        Path, typer.Option(metavar="FILE", exists=True, dir_okay=False, help="The kind's output, as JSON.")
    ],
    why: Why,
    tenant: Tenant = None,
    epoch: Epoch = None,
    stage: Stage = None,
    as_json: AsJson = False,
) -> None:
    """Take a result that was found at the provider. It is checked against the kind's model, and charged."""
    try:
        given = read_json(result.read_bytes())
    except MalformedJson:
        raise typer.BadParameter("this is not JSON", param_hint="--result") from None
    with desk(context, stage) as found:
        _tell(_resolve(found, Resolution.ACCEPT, job_id, tenant, epoch, why, result=given), as_json=as_json)


@app.command()
def fail(
    context: typer.Context,
    *,
    job_id: Id,
    why: Why,
    tenant: Tenant = None,
    epoch: Epoch = None,
    stage: Stage = None,
    as_json: AsJson = False,
) -> None:
    """End the job without a result; what was held is released. Where a cancel is recorded it ends cancelled."""
    with desk(context, stage) as found:
        _tell(_resolve(found, Resolution.FAIL, job_id, tenant, epoch, why), as_json=as_json)


@app.command()
def retry(  # noqa: PLR0913 - a command's options are its arguments
    context: typer.Context,
    *,
    job_id: Id,
    why: Why,
    may_pay_twice: Annotated[
        bool, typer.Option("--yes-i-may-pay-twice", help="The unknown call may have been paid for already.")
    ] = False,
    tenant: Tenant = None,
    epoch: Epoch = None,
    stage: Stage = None,
    as_json: AsJson = False,
) -> None:
    """Open the job again, in its next epoch, with what it holds; the unknown call keeps its key at the provider."""
    if not may_pay_twice:
        raise typer.BadParameter("say that this is meant", param_hint="--yes-i-may-pay-twice")
    with desk(context, stage) as found:
        _tell(_resolve(found, Resolution.RETRY, job_id, tenant, epoch, why), as_json=as_json)


def _resolve(
    found: Desk,
    resolution: Resolution,
    job_id: str,
    tenant: str | None,
    epoch: int | None,
    why: str,
    *,
    result: JsonValue = None,
) -> ReviewRecordView:
    """Give the verdict on the epoch that was named, or that is there; return its record."""
    reading = _read(found, tenant, job_id)
    verdict = Verdict(
        tenant_id=reading.job.tenant_id,
        job_id=job_id,
        resolution=resolution,
        epoch=epoch or _epoch_of(reading, resolution),
        by=found.who(),
        why=why,
        result=result,
        may_pay_twice=True,  # the command has asked
    )
    done = found.ask(resolve_job(found.ports, verdict))
    if done.is_replay:
        say("this verdict had been given already; nothing was written now")
    say(f"{job_id} is {done.job.state} in epoch {done.job.epoch}")
    return record_view(done.record)


def _tell(record: ReviewRecordView, *, as_json: bool) -> None:
    """Print a verdict."""
    print(one_line(record) if as_json else _record(record))


def _epoch_of(reading: ReviewReading, resolution: Resolution) -> int:
    """The present epoch; of a job whose last review was resolved so, that review's: a repeated command is no news."""
    last = reading.records[-1] if reading.records else None
    is_over = reading.job.state is not JobState.NEEDS_REVIEW
    return last.epoch if is_over and last is not None and last.resolution is resolution else reading.job.epoch


def _read(found: Desk, tenant: str | None, job_id: str) -> ReviewReading:
    """The review; without a tenant's name the job is looked for among all reviews."""
    store, blob, clock = found.ports.store, found.ports.blob, found.ports.clock
    owner = tenant
    if owner is None:
        rows = found.ask(list_reviews(store, clock, MOST)).jobs
        owner = next((row.tenant_id for row in rows if row.job_id == job_id), None)
    if owner is None:
        raise JobNotFound("no such job among the reviews; say whose it is: --tenant")
    return found.ask(read_review(store, blob, clock, tenant_id=TenantId(owner), job_id=job_id))


def _json(job: Job) -> str:
    """A review for a program."""
    view: dict[str, Any] = review_view(ReviewReading(job)).model_dump(mode="json")
    view.pop("records")  # they are not read for a list
    return json.dumps({"tenant_id": job.tenant_id, **view})


def _line(job: Job, now: datetime) -> str:
    """A review for a person."""
    since = review_since(job)
    age = "-" if since is None else ago(now - since)
    told = f"{job.tenant_id:16}  {job.job_id}  {job.epoch:>3}  {age:>6}"
    if is_participant(job):
        return f"{told}  decided with its flight {job.flight}"
    steps = ", ".join(call.step for call in job.open) or "an unread answer"
    waiting = "" if job.participants is None else f"  for {job.participants} jobs"
    return f"{told}  {steps}  {usd(job.possible_spent.high)} at most{waiting}"


def _lines(tenant: str, view: ReviewView) -> list[str]:
    """A review in full for a person."""
    told = [f"tenant    {tenant}", f"job       {view.job_id}", f"kind      {view.kind}", f"status    {view.status}"]
    told.append(f"epoch     {view.epoch}")
    if view.operation_id is not None:
        told.append(f"operation {view.operation_id}")
    if view.flight is not None:
        told.append(f"flight    {view.flight}: resolve that one, it decides for this job too")
    if view.participants is not None:
        told.append(f"for       {view.participants} jobs that wait for it")
    for name, at in (("since", view.since), ("until", view.until), ("look", view.next_look_at)):
        if at is not None:
            told.append(f"{name:8}  {at.isoformat()}")
    told.append(f"cost      {cost(view.provider_cost)}")
    told += [
        f"call      {call.step}  {call.state}  sent {'' if call.sent_at is None else call.sent_at.isoformat()}"
        f"  key {call.downstream_key}"
        for call in view.open_calls
    ]
    return [*told, *map(_record, view.records)]


def _record(record: ReviewRecordView) -> str:
    """One verdict for a person."""
    return (
        f"verdict   {record.verdict} of epoch {record.epoch} by {record.by} at {record.at.isoformat()}: {record.why}"
        f" ({record.before.status} -> {record.after.status})"
    )
