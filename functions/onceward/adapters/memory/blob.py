"""The blob store in memory: every version of every object, and upload forms that a test fills in by hand."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import timedelta

from onceward.usecases.ports import BlobInfo, Clock, UploadForm

FORM_URL = "memory://bucket"


@dataclass(frozen=True, slots=True)
class _Version:
    """One stored version: its body and what ``head`` tells."""

    body: bytes
    info: BlobInfo


class MemoryBlob:
    """A versioned bucket."""

    def __init__(self, clock: Clock) -> None:
        """Start empty; the clock dates upload forms."""
        self._clock = clock
        self._objects: dict[str, list[_Version]] = {}
        self._forms: list[UploadForm] = []

    async def put(self, key: str, body: bytes, content_type: str) -> None:
        """Store an object if nothing is at its key: nobody else writes it, so what is there is the same."""
        if key not in self._objects:
            self._add(key, body, content_type)

    async def get(self, key: str, version: str | None = None) -> bytes | None:
        """The newest version's bytes, or the named one's."""
        versions = self._objects.get(key, [])
        if version is None:
            return versions[-1].body if versions else None
        return next((stored.body for stored in versions if stored.info.version == version), None)

    async def head(self, key: str) -> BlobInfo | None:
        """The newest version."""
        versions = self._objects.get(key)
        return versions[-1].info if versions else None

    async def upload_form(self, key: str, *, content_type: str, sha256: str, size: int, valid: timedelta) -> UploadForm:
        """A form for ``upload``."""
        fields = {"key": key, "Content-Type": content_type, "sha256": sha256, "size": str(size)}
        form = UploadForm(url=FORM_URL, fields=fields, expires_at=self._clock.now() + valid)
        self._forms.append(form)
        return form

    def upload(self, form: UploadForm, body: bytes) -> bool:
        """Post a file with a form, as a browser would; ``False``: refused, nothing is stored."""
        fields = form.fields
        is_ours = form in self._forms and self._clock.now() < form.expires_at
        is_promised = str(len(body)) == fields["size"] and hashlib.sha256(body).hexdigest() == fields["sha256"]
        if not (is_ours and is_promised):
            return False
        self._add(fields["key"], body, fields["Content-Type"])
        return True

    async def erase(self, key: str) -> None:
        """Remove an object with all its versions."""
        self._objects.pop(key, None)

    def _add(self, key: str, body: bytes, content_type: str) -> None:
        """Append a version."""
        versions = self._objects.setdefault(key, [])
        info = BlobInfo(
            key=key,
            version=f"version-{len(versions) + 1}",
            size=len(body),
            sha256=hashlib.sha256(body).hexdigest(),
            content_type=content_type,
        )
        versions.append(_Version(body, info))
