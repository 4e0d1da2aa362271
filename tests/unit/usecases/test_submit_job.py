"""Create: found, kept or refused, in the design's order."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from onceward.domain.names import Fingerprint, Identity, TenantId
from onceward.domain.records import Input
from onceward.domain.states import JobState
from onceward.domain.timing import EXPIRY_MARGIN, JOB_LIFE, MAX_JOB_DEADLINE
from onceward.errors import (
    InvalidInput,
    KeyReused,
    UnknownDocument,
    UnknownKind,
)
from onceward.usecases.request_upload import Upload, request_upload
from onceward.usecases.stored_input import StoredDocument, StoredInput
from onceward.usecases.submit_job import Kept
from tests.support.api_world import DOCUMENT_ID, ApiWorld, a_registry
from tests.support.builders import IDENTITY, NOW, TENANT, TOKEN, a_policy
from tests.support.submissions import snapshot, stored_input, submit


@pytest.mark.failure_mode("F46")
def test_a_new_job_is_stored_with_its_input_and_then_sent() -> None:
    """Row, input and one message; the row is due in case that message is lost."""
    world = ApiWorld()
    kept = submit(world, traceparent="00-" + "a" * 32 + "-" + "b" * 16 + "-01")

    row = world.store.rows[TENANT, Identity(IDENTITY)]
    (delivery,) = world.queue.receive()
    assert kept == Kept(row, is_new=True)
    assert row.state is JobState.QUEUED
    assert row.job_id == f"{IDENTITY}-{row.create_token[:8]}"
    assert row.due == NOW + world.intake.timing.due_grace
    assert (row.created_at, row.expires_at) == (NOW, NOW + JOB_LIFE)
    assert row.reserved_micro_usd is None
    assert stored_input(world, kept) == StoredInput(input={"prompt": "hello"})
    assert json.loads(delivery.body)["job_id"] == row.job_id
    assert delivery.traceparent == row.traceparent is not None


def test_the_deadline_leaves_room_for_a_review_before_expiry() -> None:
    """A kind's deadline counts from create; whatever it is, it ends a margin before the row may vanish."""
    for deadline in (timedelta(hours=2), MAX_JOB_DEADLINE):
        world = ApiWorld(registry=a_registry(a_policy(deadline=deadline)))

        job = submit(world).job

        assert job.deadline_at == NOW + deadline <= job.expires_at - EXPIRY_MARGIN


def test_the_same_request_again_is_the_same_job() -> None:
    """A replay reads and writes nothing but the row, and says in which state the job is now (ID-08, ID-15)."""
    world = ApiWorld()
    first = submit(world)
    world.keep(replace(first.job, state=JobState.RUNNING, run_token=TOKEN))
    before = snapshot(world)

    again = submit(world)

    assert (again.job.job_id, again.job.state, again.is_new) == (first.job.job_id, JobState.RUNNING, False)
    assert snapshot(world) == before


def test_a_replay_is_not_validated_again() -> None:
    """A deploy that would refuse the input, or has dropped the kind, still replays what it stored."""
    world = ApiWorld()
    first = submit(world)
    world.registry = type(world.registry)()

    assert submit(world).job.job_id == first.job.job_id


@pytest.mark.failure_mode("F12")
@pytest.mark.parametrize("state", list(JobState))
def test_another_request_under_the_key_is_refused_whatever_the_job_does(state: JobState) -> None:
    """ID-05: a reused key is a conflict, never "in progress", and nothing is written or sent."""
    world = ApiWorld()
    first = submit(world)
    world.keep(replace(first.job, state=state))
    before = snapshot(world)

    with pytest.raises(KeyReused):
        submit(world, fingerprint=Fingerprint("e" * 64), input={"nonsense": True})

    assert snapshot(world) == before


@pytest.mark.failure_mode("F14")
def test_a_key_used_again_after_expiry_starts_clean() -> None:
    """ID-31: an expired row that TTL has not removed counts as absent: a new job, nothing of the old one."""
    world = ApiWorld()
    old = submit(world)
    world.clock.move(JOB_LIFE)

    new = submit(world, fingerprint=Fingerprint("e" * 64), input={"prompt": "other"})

    assert new.is_new
    assert new.job.job_id[:26] == old.job.job_id[:26]
    assert new.job.job_id != old.job.job_id
    assert stored_input(world, new).input == {"prompt": "other"}


@pytest.mark.parametrize(
    ("fields", "error", "pointers"),
    [
        ({"kind": "no.such"}, UnknownKind, []),
        ({"input": {}}, InvalidInput, ["/input/prompt"]),
        ({"input": {"prompt": "x", "documents": [1]}}, InvalidInput, ["/input/documents/0"]),
        ({"input": {"prompt": "x", "a/b~c": 1}}, InvalidInput, ["/input/?"]),
        (
            {"input": {"prompt": "x", "documents": [DOCUMENT_ID, "../globex/x"]}},
            UnknownDocument,
            ["/input/documents/0", "/input/documents/1"],
        ),
    ],
)
def test_what_cannot_be_taken_reserves_no_key(
    fields: dict[str, Any], error: type[Exception], pointers: list[str]
) -> None:
    """ID-19: a refused request says where it is wrong, writes nothing, and the corrected one goes through."""
    world = ApiWorld()
    before = snapshot(world)

    with pytest.raises(error) as refused:
        submit(world, **fields)

    assert [fault.pointer for fault in getattr(refused.value, "faults", ())] == pointers
    assert snapshot(world) == before
    assert submit(world).is_new


def test_documents_are_fixed_in_their_version_at_create() -> None:
    """The job keeps key, version, checksum, size and type of what was there then, whatever is uploaded over it."""
    world = ApiWorld()
    pdf = b"%PDF-1"
    upload = Upload(content_type="application/pdf", sha256=hashlib.sha256(pdf).hexdigest(), size=len(pdf))
    document_id, form = asyncio.run(request_upload(world.intake, tenant_id=TENANT, upload=upload))
    assert world.blob.upload(form, pdf)
    kept = submit(world, input={"prompt": "x", "documents": [document_id, document_id]})
    assert world.blob.upload(form, pdf)

    assert stored_input(world, kept).documents == {
        document_id: StoredDocument(
            key=f"documents/{TENANT}/{document_id}",
            version="version-1",
            sha256=upload.sha256,
            size=6,
            content_type="application/pdf",
        )
    }


def test_a_foreign_document_is_an_absent_one() -> None:
    """Another tenant's id resolves to nothing."""
    world = ApiWorld()
    asyncio.run(world.blob.put(f"documents/globex/{DOCUMENT_ID}", b"%PDF", "application/pdf"))

    with pytest.raises(UnknownDocument):
        submit(world, input={"prompt": "x", "documents": [DOCUMENT_ID]})


@pytest.mark.failure_mode("F73")
def test_a_large_input_is_in_the_blob_store_before_the_row() -> None:
    """What does not fit the transaction is stored first, under the job's own id."""
    world = ApiWorld()
    kept = submit(world, input={"prompt": "x" * 5000})

    item = world.store.items[TENANT, kept.job.job_id]["input"]
    assert isinstance(item, Input)
    assert (item.body, item.blob_key) == (None, f"jobs/{TENANT}/{kept.job.job_id}/input")
    assert stored_input(world, kept).input == {"prompt": "x" * 5000}


def test_two_tenants_with_one_key_have_two_jobs() -> None:
    """ID-16: nothing of a tenant is found by another."""
    world = ApiWorld()
    one = submit(world)
    other = submit(world, tenant_id=TenantId("globex"))

    assert other.is_new
    assert one.job.tenant_id != other.job.tenant_id
