"""A grant: money added to a tenant's account, once per key, whoever asks again.

The line of the book is named after the key, so a command that is repeated with its key grants once. Its name begins in
lower case, which no job id does: a grant and a job can never be taken for each other.
"""

from __future__ import annotations

import re
from datetime import datetime

from onceward.domain.ledger import Entry, Verb
from onceward.domain.names import JobId, TenantId

GRANTS = "grant-"  # where the lines of grants are found in a tenant's book
MOST_MICRO_USD = 10**15  # a billion dollars: more is a slip of the keyboard
_KEY = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def is_grant_key(text: str) -> bool:
    """Whether ``text`` can name a grant."""
    return _KEY.fullmatch(text) is not None


def grant_entry(tenant_id: TenantId, key: str, micro_usd: int, at: datetime) -> Entry:
    """The line that stands for a grant; an amount of 0 opens an account that can hold nothing."""
    return Entry(tenant_id=tenant_id, job_id=JobId(GRANTS + key), epoch=1, verb=Verb.GRANT, micro_usd=micro_usd, at=at)


def key_of(entry: Entry) -> str:
    """The key that a grant was made with."""
    return entry.job_id.removeprefix(GRANTS)
