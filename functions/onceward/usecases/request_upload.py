"""Hand out a form that lets one document in: exactly this type, size and checksum, once, for five minutes.

The document's id is random and its key below the tenant's prefix, so that no form can reach another tenant's or an
older document. Nothing is stored: an unused form leaves nothing behind, but it counts where documents are limited.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from onceward.domain.names import TenantId
from onceward.usecases.count_use import count_use
from onceward.usecases.documents import document_key
from onceward.usecases.ports import UploadForm
from onceward.usecases.submit_job import Intake

FORM_LIFE = timedelta(minutes=5)  # long enough for a slow line to begin, short enough to be useless when it leaks


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """What will be uploaded; ``sha256`` in hexadecimal, ``size`` in bytes."""

    content_type: str
    sha256: str
    size: int


async def request_upload(intake: Intake, *, tenant_id: TenantId, upload: Upload) -> tuple[str, UploadForm]:
    """A new document's id, and the form that fills it; raises ``DocumentLimit``."""
    await count_use(intake.store, intake.clock, tenant_id, intake.limits.documents)
    document_id = intake.ids.token()
    form = await intake.blob.upload_form(
        document_key(tenant_id, document_id),
        content_type=upload.content_type,
        sha256=upload.sha256,
        size=upload.size,
        valid=FORM_LIFE,
    )
    return document_id, form
