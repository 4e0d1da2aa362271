"""The body of a job's input item: the input as it was sent, and the documents that it was created with.

Create resolves each document id to an immutable version before anything is stored, so every attempt reads the same
bytes, whatever is uploaded later. A newer writer may add members; this reader leaves them alone.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, JsonValue


class StoredDocument(BaseModel):
    """One document in the version that the job was created with; ``sha256`` as the blob store says it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    key: str
    version: str
    sha256: str | None
    size: int
    content_type: str


class StoredInput(BaseModel):
    """What the worker is given of the request: ``input`` before defaults, ``documents`` by their id.

    ``coalesce``: whether it may share its work with equal requests. ``operation_id``: an agent's name
    for it, kept here so that an erasure reaches it.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    input: dict[str, JsonValue]
    documents: dict[str, StoredDocument] = {}
    coalesce: bool = True
    operation_id: str | None = None
