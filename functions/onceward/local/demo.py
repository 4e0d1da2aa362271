"""Take a document through the running API as any client would, with the SDK, and tell what happens while it happens.

The idempotency keys are fixed for one cloud, document and model: a second run replays the same jobs instead of paying
for them again. Another model is asked anew; what was erased, or ended without a result, is uploaded and asked anew.
"""

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import httpx

from onceward.client import ApiError, ClientError, Job, Onceward, is_settled
from onceward.errors import UnknownDocument
from onceward.local.failure import LocalError
from onceward.local.places import RUN
from onceward.local.show_job import job_lines, sum_line
from onceward.local.stack_file import write_private
from onceward.local.steps import step
from onceward.local.waiting import wait_until
from onceward.wire.responses import JobView

PATIENCE = timedelta(minutes=5)  # a real model takes seconds to a minute; a retry after a crash takes one lease
RESULTLESS = {"failed", "cancelled"}  # a job in review is none of them: what is unknown is not asked twice
LOOK_SECONDS = 0.2  # often enough to see a job run, seldom enough not to be what keeps the API busy


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """Where the API is, as whom it is used, a name for this cloud's contents, and one for the model that answers."""

    api_url: str
    token: str
    run_id: str
    model: str
    memory: Path = RUN / "demo.json"

    def run(self, document: Path, jobs: int) -> str:
        """Upload, create the jobs, follow them to their end and show the first; return its id."""
        direct = httpx.Client(trust_env=False)  # the API is on this machine, whatever proxy the environment names
        with direct, Onceward(self.api_url, self.token, http_client=direct) as client:
            ids = self._created(client, document, jobs)
            with in_a_line():
                ended = follow(client, ids)
        print()
        for line in job_lines(ended[0]):
            print(line)
        if jobs > 1:
            print(f"\n{sum_line(ended)}")
        return ids[0]

    def _created(self, client: Onceward, document: Path, jobs: int) -> list[str]:
        """Upload and create, and once more from the upload on if what was there is of no use; return the ids."""
        for _ in range(2):
            document_id = self._document(client, document)
            with step(f"creating {jobs} job{'s' if jobs > 1 else ''} (document.analyze)") as outcome, in_a_line():
                created = self._create_all(client, document_id, jobs)
                outcome.words = (
                    "erased, or ended without a result: once more" if created is None else created_words(created)
                )
            if created is not None:
                return [job.job_id for job in created]
            self.memory.unlink()
        raise LocalError("the document was erased while its jobs were created; `make run` tries again")

    def _document(self, client: Onceward, document: Path) -> str:
        """Upload the document unless this cloud was given it; return its id."""
        name = f"{self.run_id}:{hashlib.sha256(document.read_bytes()).hexdigest()}"
        known: dict[str, str] = json.loads(self.memory.read_text(encoding="utf-8")) if self.memory.exists() else {}
        with step(f"uploading {document.name}") as outcome, in_a_line():
            if name in known:
                outcome.words = "is there already"
                return known[name]
            uploaded = client.documents.upload(document)
            write_private(self.memory, json.dumps({name: uploaded}))
            outcome.words = uploaded
            return uploaded

    def _create_all(self, client: Onceward, document_id: str, jobs: int) -> list[Job] | None:
        """Create the jobs; ``None``: the document was erased, or an earlier run's job has no result to show."""
        try:
            created = [self._create(client, document_id, number) for number in range(jobs)]
        except ApiError as error:
            if error.code == UnknownDocument.code:
                return None
            raise
        replayed = [client.jobs.get(job.job_id) for job in created if job.is_replay]
        return None if any(job.erased_at or job.status in RESULTLESS for job in replayed) else created

    def _create(self, client: Onceward, document_id: str, number: int) -> Job:
        """Create a job; the same number by the same model is the same job."""
        key = f"make-run-{document_id}-{self.model}-{number}"
        return client.jobs.submit("document.analyze", {"document_id": document_id}, idempotency_key=key)


def created_words(created: Sequence[Job]) -> str:
    """Name the first and the last job, and say which were there before."""
    replayed = sum(job.is_replay for job in created)
    if len(created) == 1:
        return f"{created[0].job_id}{' (replayed)' if replayed else ''}"
    return f"{created[0].job_id} to {created[-1].job_id}{f' ({replayed} replayed)' if replayed else ''}"


@contextmanager
def in_a_line() -> Iterator[None]:
    """Tell in one line what the API did not do."""
    try:
        yield
    except ClientError as error:
        raise LocalError(f"{error}; see the logs in {RUN}, or `make stop` and begin anew") from error


def follow(client: Onceward, ids: list[str]) -> list[JobView]:
    """Print each change of each job as it is seen; return the jobs when all have ended."""
    began = time.monotonic()
    seen: dict[str, str] = {}
    ended: dict[str, JobView] = {}

    def all_have_ended() -> bool:
        for job_id in [job_id for job_id in ids if job_id not in ended]:
            job = client.jobs.get(job_id)
            state = f"{job.status}{f' for {job.waiting_for}' if job.waiting_for else ''}"
            if seen.get(job_id) != state:
                seen[job_id] = state
                print(f"  {time.monotonic() - began:5.1f} s  {job_id}  {state}", flush=True)
            if is_settled(job):
                ended[job_id] = job
        return len(ended) == len(ids)

    if not wait_until(all_have_ended, PATIENCE, pause_seconds=LOOK_SECONDS):
        raise LocalError(f"{len(ids) - len(ended)} of {len(ids)} jobs have not ended in {PATIENCE}; see `make stop`")
    return [ended[job_id] for job_id in ids]
