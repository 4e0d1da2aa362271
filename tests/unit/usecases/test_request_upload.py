"""Upload forms: one file, one tenant, five minutes."""

from __future__ import annotations

import asyncio
import hashlib
from datetime import timedelta

from onceward.domain.names import TenantId
from onceward.usecases.documents import is_document_id
from onceward.usecases.ports import UploadForm
from onceward.usecases.request_upload import Upload, request_upload
from tests.support.api_world import ApiWorld
from tests.support.builders import NOW, TENANT

PDF = b"%PDF-1.7"


def request(world: ApiWorld, tenant: TenantId = TENANT) -> tuple[str, UploadForm]:
    """Ask for a form."""
    upload = Upload(content_type="application/pdf", sha256=hashlib.sha256(PDF).hexdigest(), size=len(PDF))
    return asyncio.run(request_upload(world.intake, tenant_id=tenant, upload=upload))


def test_a_form_is_for_a_new_document_of_its_tenant() -> None:
    """Ids are never reused and name a key below the tenant's own prefix."""
    world = ApiWorld()
    one, form = request(world)
    other, _ = request(world)

    assert is_document_id(one)
    assert one != other
    assert form.fields["key"] == f"documents/{TENANT}/{one}"
    assert form.expires_at == NOW + timedelta(minutes=5)


def test_asking_for_a_form_stores_nothing() -> None:
    """An unused form leaves no document behind."""
    world = ApiWorld()
    _, form = request(world)

    assert asyncio.run(world.blob.head(form.fields["key"])) is None
