"""How long a read may wait for its job: as asked, bounded by the gateway's patience and the invocation's time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MAX_WAIT_SECONDS = 25  # the HTTP API hangs up at 30, and an answer must still be read and written
KEPT_BACK_SECONDS = 3.0  # of the invocation's time, for the answer

_PREFER_WAIT = re.compile(r'(?:^|[,;])\s*wait\s*=\s*"?(\d{1,6})"?\s*(?=[,;]|$)', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds to wait, and the headers that say whether a preference was honoured (RFC 7240)."""

    seconds: float
    headers: dict[str, str] = field(default_factory=dict)


def asked_wait(query: float | None, event: Mapping[str, Any], remaining_ms: int) -> Patience:
    """The wait of a request: its query's, else its ``Prefer`` header's; a preference is cut to what we can do."""
    longest = max(0.0, min(float(MAX_WAIT_SECONDS), remaining_ms / 1000 - KEPT_BACK_SECONDS))
    if query is not None:
        return Patience(min(query, longest))
    preferred = _PREFER_WAIT.search(event["headers"].get("prefer", ""))
    if preferred is None:
        return Patience(0.0)
    seconds = min(int(preferred[1]), int(longest))
    return Patience(float(seconds), {"Preference-Applied": f"wait={seconds}"})
