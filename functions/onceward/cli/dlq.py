"""The operator's commands for dead letters: what is there, and moving it back so that exhausted jobs are opened again.

Letters are received, sent and deleted here, after a look at their jobs, and counted as SQS answers. SQS's own move task
is there too, with the jobs queue as destination: without one, SQS refuses what it did not move itself, which is every
letter of ours.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import ValidationError

from onceward.cli.desk import Desk, desk
from onceward.cli.exits import ExitCode
from onceward.cli.options import AsJson, job_name, tenant_name
from onceward.cli.queues import Queues, queues
from onceward.cli.redriving import move_all, report_of, watch
from onceward.cli.selecting import Planned, Selection, age_of, counts, plan
from onceward.cli.show import ago, listed, say, told_facts
from onceward.domain.letters import Fate
from onceward.wire.messages import DeadLetterBody, UnreadableBody, WakeupBody, parse_message

if TYPE_CHECKING:
    from onceward.adapters.dead_letters import DeadLetters, Letter

HEAD = f"{'job':35}  epoch  {'age':>4}  reason"
LIMIT = 100  # letters shown unless more are asked for
MOST = 10_000  # letters looked through for one job's; a minute's reading, after which the first are visible again

app = typer.Typer(name="dlq", help="Dead letters: exhausted jobs and reviews (for the operator).", no_args_is_help=True)


Stage = Annotated[str | None, typer.Option(metavar="NAME", help="A deployed stage, whose stack names the queues.")]
EachJson = Annotated[bool, typer.Option("--json", help="Print one line of JSON for each letter.")]
JobArgument = Annotated[str | None, typer.Argument(metavar="ID", callback=job_name, help="Redrive this job's letters.")]
Rate = Annotated[int | None, typer.Option(min=1, max=500, metavar="N", help="Move at most so many a second.")]
Reason = Annotated[str | None, typer.Option(metavar="WORD", help="Only letters of this reason.")]
Kind = Annotated[str | None, typer.Option(metavar="KIND", help="Only jobs of this kind.")]
Tenant = Annotated[str | None, typer.Option(metavar="NAME", callback=tenant_name, help="Only this tenant's.")]
Older = Annotated[str | None, typer.Option(metavar="AGE", help="Only letters at least so old, as 12h.")]
Younger = Annotated[str | None, typer.Option(metavar="AGE", help="Only letters younger than that, as 2d.")]


@app.command(name="list")
def list_letters(
    context: typer.Context,
    *,
    stage: Stage = None,
    limit: Annotated[int, typer.Option(min=1, max=MOST, help="Show at most so many.")] = LIMIT,
    as_json: EachJson = False,
) -> None:
    """Print reason, job, epoch and age of each letter. Of a body that nobody could read, only the reason is shown."""
    with queues(context, stage) as found:
        from onceward.adapters.dead_letters import DeadLetters  # noqa: PLC0415 - needs boto3, see ``cli/aws.py``

        letters = DeadLetters(found.client, found.dead_letters_url)
        about = letters.about()
        read = letters.read(limit)
        letters.put_back(read)
        facts = [_facts(one, datetime.now(UTC)) for one in sorted(read, key=lambda one: one.sent_at)]
        listed(HEAD, [json.dumps(fact) if as_json else _line(fact) for fact in facts], as_json=as_json)
        if len(facts) < about:
            say(f"{len(facts)} shown of about {about}; --limit shows more")


@app.command()
def redrive(  # noqa: PLR0913 - a command's options are its arguments
    context: typer.Context,
    *,
    job_id: JobArgument = None,
    everything: Annotated[bool, typer.Option("--all", help="All letters.")] = False,
    reason: Reason = None,
    kind: Kind = None,
    tenant: Tenant = None,
    older_than: Older = None,
    younger_than: Younger = None,
    rate: Rate = None,
    yes: Annotated[bool, typer.Option("--yes", help="Move them; else only tell what would be done.")] = False,
    by_move_task: Annotated[
        bool, typer.Option("--by-move-task", help="With --all --yes: SQS's own task, without a look at the jobs.")
    ] = False,
    watch_for: Annotated[float, typer.Option("--watch", min=0, metavar="SECONDS", help="Watch the jobs so long.")] = 30,
    stage: Stage = None,
    as_json: AsJson = False,
) -> None:
    """Tell what a redrive would do, or with --yes do it.

    Exhausted jobs are opened again; a job in review, or one whose budget is too small, is refused and stays.
    """
    chosen = Selection(
        job_id=job_id,
        reason=reason,
        kind=kind,
        tenant=tenant,
        older_than=age_of(older_than),
        younger_than=age_of(younger_than),
    )
    if everything == (chosen != Selection()):
        raise typer.BadParameter("name a job, select some, or say --all", param_hint="ID")
    if by_move_task and not (everything and yes):
        raise typer.BadParameter("the task moves everything: say --all --yes", param_hint="--by-move-task")
    with queues(context, stage) as found:
        if by_move_task:
            (_move_here if found.is_local else start_move)(found, rate, as_json=as_json)
            return
        with desk(context, stage) as jobs:
            _redrive(found, jobs, chosen, Doing(rate=rate, is_meant=yes, watch=watch_for, as_json=as_json))


@app.command()
def prune(
    context: typer.Context,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Remove them; else only tell how many.")] = False,
    stage: Stage = None,
    as_json: AsJson = False,
) -> None:
    """Remove letters whose job has moved on.

    It ended otherwise, is in a later epoch, or is gone.
    """
    with queues(context, stage) as found, desk(context, stage) as jobs:
        letters, read, planned = _read(found, jobs, Selection())
        gone = [one for one in planned if one.told.fate is Fate.MOVED_ON]
        removed = letters.remove([one.letter for one in gone]) if yes else 0
        letters.put_back(_without(read, gone) if yes else read)
        facts = {"is_dry_run": not yes, "moved_on": counts(gone, Fate.MOVED_ON), "removed": removed}
        told_facts(facts, as_json=as_json)
        if not yes:
            say("nothing was removed; --yes removes them")


@dataclass(frozen=True, slots=True, kw_only=True)
class Doing:
    """How a redrive is done, if it is."""

    rate: int | None
    is_meant: bool
    watch: float
    as_json: bool


def _read(found: Queues, jobs: Desk, chosen: Selection) -> tuple[DeadLetters, list[Letter], list[Planned]]:
    """All letters, held for a while, and those that are selected, with their fates."""
    from onceward.adapters.dead_letters import DeadLetters  # noqa: PLC0415 - needs boto3, see ``cli/aws.py``

    letters = DeadLetters(found.client, found.dead_letters_url)
    read = letters.read(MOST)
    return letters, read, plan(jobs, read, chosen)


def _without(read: list[Letter], taken: list[Planned]) -> list[Letter]:
    """What was read and is not taken: thousands, of which none may be held much longer."""
    receipts = {one.letter.receipt for one in taken}
    return [one for one in read if one.receipt not in receipts]


def _redrive(found: Queues, jobs: Desk, chosen: Selection, doing: Doing) -> None:
    """Tell, or move and watch; what is not moved can be read by others at once."""
    letters, read, planned = _read(found, jobs, chosen)
    moving = [one for one in planned if one.told.fate.is_worth_moving] if doing.is_meant else []
    letters.put_back(_without(read, moving))
    report = report_of(planned)
    if not doing.is_meant:
        told_facts({"is_dry_run": True, **report}, as_json=doing.as_json)
        say("nothing was moved; --yes moves what would open or wake")
        return
    moved = move_all(letters, moving, found.jobs_url, doing.rate)
    reopened = watch(jobs, moving[: moved.sent], doing.watch)
    told = {"sent": moved.sent, "removed": moved.deleted, "reopened": reopened}
    told_facts({"is_dry_run": False, **report, **told}, as_json=doing.as_json)
    if moved.error is not None:
        raise moved.error
    if not moved.is_complete:
        say("what was sent and not removed is in both queues: a second redrive of it changes nothing")
        raise typer.Exit(ExitCode.API)


def start_move(found: Queues, rate: int | None, *, as_json: bool) -> None:
    """Start SQS's own task; it goes on without us."""
    from onceward.adapters.aws_errors import translated  # noqa: PLC0415 - needs boto3, see ``cli/aws.py``

    source, destination = found.arn_of(found.dead_letters_url), found.arn_of(found.jobs_url)
    limit: Any = {} if rate is None else {"MaxNumberOfMessagesPerSecond": rate}
    with translated("sqs"):
        task = found.client.start_message_move_task(SourceArn=source, DestinationArn=destination, **limit)
    told_facts({"task": task["TaskHandle"]}, as_json=as_json)
    say("SQS is moving the letters; `aws sqs list-message-move-tasks` tells how far it is")


def _move_here(found: Queues, rate: int | None, *, as_json: bool) -> None:
    """The local cloud has no such task: do what it does."""
    from botocore.exceptions import ClientError  # noqa: PLC0415 - needs boto3, see ``cli/aws.py``

    from onceward.adapters.aws_errors import to_infrastructure  # noqa: PLC0415
    from onceward.local.message_moves import MessageMoves  # noqa: PLC0415
    from onceward.local.places import RUN  # noqa: PLC0415

    source, destination = found.arn_of(found.dead_letters_url), found.arn_of(found.jobs_url)
    try:
        task = MessageMoves(found.client, RUN / "moves").start(source, destination, messages_per_second=rate)
    except ClientError as error:
        raise to_infrastructure(error, "sqs") from None
    told_facts({"status": task.status, "moved": task.moved}, as_json=as_json)


def _facts(letter: Letter, now: datetime) -> dict[str, Any]:
    """What may be shown of a letter: never the body that nobody could read, which may hold anything."""
    told: dict[str, Any] = {"reason": _why_unreadable(letter.body), "tenant_id": None, "job_id": None, "epoch": None}
    match parse_message(letter.body):
        case DeadLetterBody(tenant_id=tenant_id, job_id=job_id, epoch=epoch, reason=reason):
            told = {"reason": reason, "tenant_id": tenant_id, "job_id": job_id, "epoch": epoch}
        case WakeupBody(tenant_id=tenant_id, job_id=job_id):
            told |= {"reason": "not_handled", "tenant_id": tenant_id, "job_id": job_id}
        case _:
            pass
    return {**told, "age_seconds": max(0, round((now - letter.sent_at).total_seconds()))}


def _why_unreadable(body: str) -> str:
    """The reason that was written down; a body of no shape of ours has none."""
    try:
        return f"unreadable: {UnreadableBody.model_validate_json(body).reason}"
    except ValidationError:
        return "unreadable"


def _line(fact: dict[str, Any]) -> str:
    """A letter for a person."""
    epoch = "-" if fact["epoch"] is None else fact["epoch"]
    return f"{fact['job_id'] or '-':35}  {epoch:>3}  {ago(timedelta(seconds=fact['age_seconds'])):>6}  {fact['reason']}"
