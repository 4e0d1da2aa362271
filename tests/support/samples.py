"""The sample payloads in ``events/``, as a Lambda is handed them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

EVENTS = Path(__file__).parents[2] / "events"


def sample(name: str) -> dict[str, Any]:
    """One of them, by its file's stem."""
    event: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8"))
    return event
