"""Where a page of a tenant's list ended, as a string for the client: opaque to it, and without its tenant's name.

The tenant comes from the request, never from the cursor, so that a cursor from elsewhere opens nobody else's list.
"""

from __future__ import annotations

import re
from datetime import datetime

from onceward.adapters.instants import from_ms, to_ms
from onceward.domain.names import JobId
from onceward.errors import Fault, InvalidInput

_CURSOR = re.compile(r"(?P<ms>[0-9]{13})-(?P<job_id>[A-Za-z0-9-]{1,64})")


def to_cursor(created_at: datetime, job_id: JobId) -> str:
    """The place right after this job, in a list that is ordered by creation."""
    return f"{to_ms(created_at):013d}-{job_id}"


def from_cursor(cursor: str) -> tuple[datetime, JobId]:
    """The job a cursor stands behind; raises ``InvalidInput`` for a string that we never gave out."""
    read = _CURSOR.fullmatch(cursor)
    if read is None:
        raise InvalidInput("the cursor is not one of ours", faults=[Fault("/cursor", "not a cursor of this list")])
    return from_ms(int(read["ms"])), JobId(read["job_id"])
