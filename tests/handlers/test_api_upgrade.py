"""A deploy over jobs that older code stored: they are read, replayed and cancelled as if nothing had happened.

``tests/support/stored/schema_1.json`` is what the code of schema 1 wrote, frozen: it is never made anew. A later schema
adds its own file beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from onceward.local.cloud import LocalCloud
from tests.support.api_world import an_event, ask, claims_of
from tests.support.stored_items import as_stored
from tests.support.wired_api import WiredApi, wired_api

STORED = Path(__file__).parents[1] / "support" / "stored"
BODY = '{"kind": "text.generate", "input": {"prompt": "hello", "style": "formal"}}'  # what today's model refuses


@pytest.fixture(params=sorted(path.name for path in STORED.iterdir()))
def upgraded(ministack: LocalCloud, request: pytest.FixtureRequest) -> Iterator[WiredApi]:
    """Today's API over the tables of older code."""
    stored = json.loads((STORED / request.param).read_text())
    with wired_api(ministack.access, ministack.endpoint_url) as made:
        for table, items in ((made.tables.jobs, stored["jobs"]), (made.tables.accounts, stored["accounts"])):
            for item in items:
                made.put(table, as_stored(item))
        yield made


def test_job_of_older_code_is_read_whole(upgraded: WiredApi) -> None:
    """State, both attempts, tokens, costs, charge and result; the books say the same."""
    job_id = upgraded.create("before-the-deploy", BODY).json["job_id"]
    job = upgraded.get(job_id).json

    assert (job["status"], job["result"], job["charge_micro_usd"]) == ("succeeded", {"text": "good day"}, 5_000)
    assert [(one["number"], one["outcome"]) for one in job["attempts"]] == [(1, "failed"), (2, "succeeded")]
    assert job["attempts"][1]["usage"]["input_tokens"] == 7
    assert job["provider_cost"]["exact_micro_usd"] == 250


def test_request_that_todays_model_refuses_still_replays(upgraded: WiredApi) -> None:
    """The key's job is found by one read, before anything is validated; under a new key the same body is refused."""
    before = upgraded.items(upgraded.tables.jobs)
    replayed = upgraded.create("before-the-deploy", BODY)
    mismatch = upgraded.create("before-the-deploy", BODY.replace("hello", "goodbye"))
    anew = upgraded.create("another-key", BODY)

    assert (replayed.status, replayed.headers["idempotent-replayed"]) == (202, "true")
    assert (mismatch.status, anew.status) == (409, 422)
    assert upgraded.items(upgraded.tables.jobs) == before


def test_older_jobs_are_listed_and_cancelled(upgraded: WiredApi) -> None:
    """The index and every condition of a write know the older items."""
    listed = ask(upgraded.api, an_event("GET", "/api/ai/jobs", claims=claims_of())).json["jobs"]
    queued = next(job for job in listed if job["status"] == "queued")
    cancel = an_event("POST", f"/api/ai/jobs/{queued['job_id']}/cancel", claims=claims_of())
    cancelled = ask(upgraded.api, cancel)

    assert len(listed) == 2
    assert (cancelled.status, cancelled.json["status"]) == (200, "cancelled")
