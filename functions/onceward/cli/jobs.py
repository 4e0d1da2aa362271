"""The commands of jobs and documents: each one call of the SDK and what is printed of it."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Annotated

import typer

from onceward.cli.given import read_input
from onceward.cli.options import AsJson
from onceward.cli.session import Session, session
from onceward.cli.show import history_lines, job_lines, one_line, readable, say, standing
from onceward.client import JobView, WaitTimeout, result_of
from onceward.client.results import TERMINAL

KEY_BYTES = 18  # 144 random bits: 24 characters
SOON = "a little later, when its worker sees it"
WHEN_ENDED = {"needs_review": "when its review does"}
DOCUMENT_FIELD = "document_id"  # what the kinds that read a document call it

Id = Annotated[str, typer.Argument(metavar="ID", help="The job's id.")]
Timeout = Annotated[float | None, typer.Option(min=0, metavar="SECONDS", help="Wait no longer; the job goes on.")]
ContentType = Annotated[
    str | None,
    typer.Option(
        metavar="TYPE",
        help="What the document is, as 'text/plain; charset=iso-8859-1'; else by its name, then by its first bytes.",
    ),
]
File = typer.Argument(metavar="PATH", exists=True, dir_okay=False, readable=True, help="The file.")
Upload = typer.Option(
    metavar="PATH", exists=True, dir_okay=False, readable=True, help="Upload it first; it becomes input's document_id."
)


def submit(  # noqa: PLR0913 - a command's options are its arguments
    context: typer.Context,
    *,
    kind: Annotated[str, typer.Argument(metavar="KIND", help="The job's kind, as document.analyze.")],
    given: Annotated[
        str | None, typer.Option("--input", metavar="JSON|@FILE|-", help="The job's input, a JSON object.")
    ] = None,
    document: Annotated[Path | None, Upload] = None,
    content_type: ContentType = None,
    key: Annotated[str | None, typer.Option(help="The same for each retry of one submission; made if absent.")] = None,
    apart: Annotated[bool, typer.Option("--apart", help="Share no computation with equal jobs.")] = False,
    wait_for_it: Annotated[bool, typer.Option("--wait", help="Wait for the job's end and print its result.")] = False,
    timeout: Timeout = None,
    as_json: AsJson = False,
) -> None:
    """Submit a job; print its id, or with --wait its result."""
    input_ = read_input(given, has_document=document is not None)
    if timeout is not None and not wait_for_it:
        raise typer.BadParameter("there is no wait to bound without --wait", param_hint="--timeout")
    if document is not None and DOCUMENT_FIELD in input_:
        raise typer.BadParameter("the input names a document already", param_hint="--document")
    if content_type is not None and document is None:
        raise typer.BadParameter("there is no document to be of it without --document", param_hint="--content-type")
    with session(context) as talk:
        if document is not None:
            input_[DOCUMENT_FIELD] = talk.client.documents.upload(document, content_type)
            # With the key alone a repeated command would upload a second document, and so be another request.
            say(f"uploaded {document}; its id is {input_[DOCUMENT_FIELD]}, to repeat this command with --input")
        talk.key = secrets.token_urlsafe(KEY_BYTES) if key is None else key  # an empty one is a mistake, not a wish
        say(f"submitting with --key {talk.key}")
        job = talk.client.jobs.submit(kind, input_, talk.key, coalesce=not apart)
        talk.job_id = job.job_id
        say(f"{job.job_id} is {standing(job)}{' (it was there already)' if job.is_replay else ''}")
        if wait_for_it:
            _wait(talk, job.job_id, timeout, as_json=as_json)
        else:
            print(one_line(job) if as_json else job.job_id)


def get(
    context: typer.Context,
    *,
    job_id: Id,
    attempts: Annotated[bool, typer.Option("--attempts", help="Print every attempt of every epoch instead.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print how a job stands, its result, or its history."""
    with session(context) as talk:
        if attempts:
            history = talk.client.jobs.history(job_id)
            print(one_line(history) if as_json else "\n".join(history_lines(history)))
            return
        job = talk.client.jobs.get(job_id)
        print(one_line(job) if as_json else "\n".join(job_lines(job)))


def wait(context: typer.Context, *, job_id: Id, timeout: Timeout = None, as_json: AsJson = False) -> None:
    """Wait for a job's end and print its result."""
    with session(context) as talk:
        talk.job_id = job_id
        _wait(talk, job_id, timeout, as_json=as_json)


def cancel(context: typer.Context, *, job_id: Id, as_json: AsJson = False) -> None:
    """Ask for a job's end; print how it stands. A running job ends a little later."""
    with session(context) as talk:
        job = talk.client.jobs.cancel(job_id)
        print(one_line(job) if as_json else standing(job))
        if job.cancel_requested_at is not None and job.status not in TERMINAL:
            say(f"the cancel is recorded; the job ends {WHEN_ENDED.get(str(job.status), SOON)}: onceward wait {job_id}")


def erase(context: typer.Context, *, job_id: Id, as_json: AsJson = False) -> None:
    """Erase what a job that has ended holds. Its input, result and documents go, how it ended stays."""
    with session(context) as talk:
        talk.client.jobs.erase(job_id)
        print(json.dumps({"job_id": job_id, "is_erased": True}) if as_json else "erased")


def upload(
    context: typer.Context, *, path: Annotated[Path, File], content_type: ContentType = None, as_json: AsJson = False
) -> None:
    """Upload a document; print its id, for a job's input."""
    with session(context) as talk:
        document_id = talk.client.documents.upload(path, content_type)
        print(json.dumps({DOCUMENT_FIELD: document_id}) if as_json else document_id)


def _wait(talk: Session, job_id: str, timeout: float | None, *, as_json: bool) -> None:
    """Wait, print, and raise what says how the job ended, unless it succeeded."""
    say(f"waiting for {job_id}; Ctrl-C leaves it running")
    job = _last_seen(talk, job_id, timeout)
    if as_json:
        print(one_line(job))
    result = result_of(job)
    if not as_json:
        print(readable(result))


def _last_seen(talk: Session, job_id: str, timeout: float | None) -> JobView:
    """The job at its end, or at the end of the time."""
    try:
        return talk.client.jobs.wait(job_id, timeout)
    except WaitTimeout as error:
        return error.job
