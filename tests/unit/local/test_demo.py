"""The demonstration says which jobs were there before, and begins anew where they are of no use any more."""

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from onceward.client import Job, JobView, Onceward
from onceward.local.demo import Demo, created_words
from tests.unit.client.live_api import TOKEN, LiveApi

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


def a_job(job_id: str, *, is_replay: bool) -> Job:
    """What the client returns for a submission."""
    return Job(
        job_id=job_id,
        kind="document.analyze",
        status="queued",
        created_at=NOON,
        deadline_at=NOON,
        idempotency_key=f"key of {job_id}",
        is_replay=is_replay,
    )


@pytest.mark.parametrize(
    ("replays", "told"),
    [
        ([False], "j0"),
        ([True], "j0 (replayed)"),
        ([False, False], "j0 to j1"),
        ([True, True, False], "j0 to j2 (2 replayed)"),
    ],
)
def test_replayed_jobs_are_said_to_be(replays: list[bool], told: str) -> None:
    """A second run pays for nothing again, and says so."""
    created = [a_job(f"j{number}", is_replay=is_replay) for number, is_replay in enumerate(replays)]

    assert created_words(created) == told


@pytest.fixture
def demo(live: LiveApi, tmp_path: Path) -> Demo:
    """The demonstration against a running API, with a memory of its own."""
    return Demo(api_url=live.url, token=TOKEN, run_id="cloud", model="a", memory=tmp_path / "demo.json")


@pytest.fixture
def document(tmp_path: Path) -> Path:
    """What is uploaded."""
    path = tmp_path / "contract.pdf"
    path.write_bytes(b"%PDF-1.7")
    return path


def state_of(live: LiveApi, job_id: str) -> JobView:
    """How a job stands."""
    with Onceward(live.url, TOKEN) as client:
        return client.jobs.get(job_id)


def test_second_run_replays_and_another_model_is_asked(demo: Demo, document: Path) -> None:
    """One document, and one job for each model that is chosen."""
    first = demo.run(document, 1)

    assert demo.run(document, 1) == first
    assert replace(demo, model="b").run(document, 1) != first


@pytest.mark.parametrize("jobs", [1, 3])
def test_what_was_erased_is_uploaded_and_asked_anew(demo: Demo, document: Path, live: LiveApi, jobs: int) -> None:
    """The DELETE that ``make run`` prints breaks no later run, with or without more jobs than there were."""
    first = demo.run(document, 1)
    httpx.delete(f"{live.url}/api/ai/jobs/{first}", headers={"authorization": f"Bearer {TOKEN}"}, trust_env=False)
    assert state_of(live, first).erased_at is not None

    second = demo.run(document, jobs)

    assert state_of(live, second).result == {"text": "8 bytes of application/pdf"}


def test_job_without_a_result_is_asked_anew(demo: Demo, document: Path, live: LiveApi) -> None:
    """A model's key that was wrong is set right, and the demonstration goes on."""
    live.is_working = False
    with Onceward(live.url, TOKEN) as client:
        document_id = client.documents.upload(document)
        name = f"cloud:{hashlib.sha256(document.read_bytes()).hexdigest()}"
        demo.memory.write_text(json.dumps({name: document_id}), encoding="utf-8")
        cancelled = client.jobs.submit("document.analyze", {"document_id": document_id}, f"make-run-{document_id}-a-0")
        assert client.jobs.cancel(cancelled.job_id).status == "cancelled"
    live.is_working = True

    assert demo.run(document, 1) != cancelled.job_id
