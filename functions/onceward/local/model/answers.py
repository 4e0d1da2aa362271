"""Keep computed answers by Idempotency-Key, for replays and for lookups.

Not synchronised: the server's lock guards it.
"""

from collections import OrderedDict
from dataclasses import dataclass

from onceward.local.model.chat import Completion

MAX_ANSWERS = 10_000  # the newest; a local server's memory is not a database


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer, when it was computed and from when it can be looked up, in seconds of one monotonic clock."""

    completion: Completion
    at: float
    visible_at: float


class Answers:
    """The newest answer of each key."""

    def __init__(self) -> None:
        self._by_key: OrderedDict[str, StoredAnswer] = OrderedDict()

    def clear(self) -> None:
        """Forget all answers."""
        self._by_key.clear()

    def put(self, key: str, completion: Completion, *, now: float, hidden_s: float) -> None:
        """Store the newest answer of a key."""
        self._by_key[key] = StoredAnswer(completion, now, now + hidden_s)
        self._by_key.move_to_end(key)
        if len(self._by_key) > MAX_ANSWERS:
            self._by_key.popitem(last=False)

    def replay(self, key: str | None, *, now: float, window_s: float | None) -> Completion | None:
        """Return the stored answer while the dedupe window is open; hiding a lookup does not stop a replay."""
        stored = self._by_key.get(key) if key is not None else None
        return stored.completion if stored and window_s is not None and now < stored.at + window_s else None

    def look_up(self, key: str, *, now: float) -> Completion | None:
        """Return the stored answer once it is visible."""
        stored = self._by_key.get(key)
        return stored.completion if stored and now >= stored.visible_at else None
