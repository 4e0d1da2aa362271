"""The key under which equal questions meet: built here from everything that an answer depends on, never by hand.

Tenant and access scope, provider and route with the exact model, the kind's name, version, instructions and parameters,
the documents in their immutable versions, and the whole input as it was sent. What differs in any of them is another
question; what is equal in all of them has one answer. Only its hash is stored.
"""

from __future__ import annotations

import base64
import hashlib
import json

from pydantic import JsonValue

from onceward.domain.coalescing import AccessScope, CoalesceBy
from onceward.domain.job import Job
from onceward.domain.names import CoalesceKey
from onceward.usecases.stored_input import StoredInput

VERSION = 1  # of this list: a key of other code meets none of ours
LENGTH = 52  # base32 characters: all of a SHA-256 but its last, padded, digit


def coalesce_key(job: Job, stored: StoredInput, by: CoalesceBy, route: str) -> CoalesceKey:
    """The key of a job's question; ``route`` is the provider's word on model and way (``Provider.route``)."""
    documents: dict[str, JsonValue] = {
        name: [document.key, document.version, document.sha256, document.content_type]
        for name, document in stored.documents.items()
    }
    question: dict[str, JsonValue] = {
        "version": VERSION,
        "tenant": job.tenant_id,
        "scope": [by.scope.value, job.created_by if by.scope is AccessScope.CREATOR else None],
        "route": route,
        "kind": [job.kind, job.kind_version],
        "instructions": by.instructions,
        "parameters": dict(by.parameters),
        "documents": documents,
        "input": stored.input,
    }
    told = json.dumps(question, sort_keys=True, separators=(",", ":"))  # ASCII: half a surrogate is no error
    digest = hashlib.sha256(told.encode()).digest()
    return CoalesceKey(base64.b32encode(digest).decode()[:LENGTH])
