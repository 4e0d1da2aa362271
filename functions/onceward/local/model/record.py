"""Keep what tests ask about: counts per key and model, the peak of parallel requests, and the requests seen.

No prompt or answer is kept here, only sizes and a hash. Not synchronised: the server holds its lock around each call.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

MAX_REQUESTS_KEPT = 20_000  # the newest; counts go on
MAX_KEYS_COUNTED = 50_000  # further keys are counted in total and by model only
NO_KEY = ""  # stands for "sent without an Idempotency-Key" in the counts by key
_TELLING_HEADERS = frozenset(
    {
        *("user-agent", "content-type", "content-length", "connection", "idempotency-key", "traceparent"),
        *("anthropic-version", "amz-sdk-request", "amz-sdk-retry"),
        *("x-request-id", "x-client-request-id", "x-stainless-retry-count", "x-stainless-timeout", "x-stainless-lang"),
    }
)


@dataclass(slots=True)
class Counts:
    """How often something was asked, worked on, replayed, and what that used."""

    requests: int = 0
    computations: int = 0
    replays: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(slots=True, kw_only=True)
class Seen:
    """One request as it came and as it ended; `outcome` is `open` until then."""

    number: int
    at: float
    key: str | None
    model: str
    metadata: Mapping[str, Any]
    headers: Mapping[str, str]
    authorised: bool
    messages: int
    prompt_characters: int
    body_sha256: str
    outcome: str = "open"
    status: int | None = None
    computed: bool = False
    held_at: str | None = None
    request_id: str = ""
    took_s: float | None = None


@dataclass(slots=True)
class Record:
    """Everything counted since the last reset."""

    total: Counts = field(default_factory=Counts)
    by_key: dict[str, Counts] = field(default_factory=dict)
    by_model: dict[str, Counts] = field(default_factory=dict)
    lookups: int = 0
    in_flight: int = 0
    peak: int = 0
    seen: deque[Seen] = field(default_factory=lambda: deque(maxlen=MAX_REQUESTS_KEPT))

    def reset(self) -> None:
        """Forget all but the requests that are still in flight: they must not make the number negative."""
        self.total, self.by_key, self.by_model, self.lookups = Counts(), {}, {}, 0
        self.peak = self.in_flight
        self.seen.clear()

    def arrived(self, seen: Seen) -> None:
        """Count a request at its arrival, before anything else is done with it."""
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        self.seen.append(seen)
        for counts in self._of(seen):
            counts.requests += 1

    def computed(self, seen: Seen, prompt_tokens: int, completion_tokens: int) -> None:
        """Count work done: what a real provider would bill."""
        seen.computed = True
        for counts in self._of(seen):
            counts.computations += 1
            counts.prompt_tokens += prompt_tokens
            counts.completion_tokens += completion_tokens

    def replayed(self, seen: Seen) -> None:
        """Count a stored answer that was given again."""
        for counts in self._of(seen):
            counts.replays += 1

    def ended(self, seen: Seen, outcome: str, status: int | None, took_s: float) -> None:
        """Record how a request ended."""
        self.in_flight -= 1
        seen.outcome, seen.status, seen.took_s = outcome, status, took_s

    def counts(self) -> dict[str, Any]:
        """Return all counts as JSON."""
        held: dict[str, int] = {}
        for seen in self.seen:
            if seen.held_at is not None:
                held[seen.held_at] = held.get(seen.held_at, 0) + 1
        return {
            **asdict(self.total),
            "in_flight": self.in_flight,
            "peak": self.peak,
            "lookups": self.lookups,
            "held": held,
            "by_key": {key: asdict(counts) for key, counts in self.by_key.items()},
            "by_model": {model: asdict(counts) for model, counts in self.by_model.items()},
        }

    def requests(self) -> list[dict[str, Any]]:
        """Return the requests kept, oldest first, as JSON."""
        return [asdict(seen) for seen in self.seen]

    def _of(self, seen: Seen) -> list[Counts]:
        counts = [self.total, self.by_model.setdefault(seen.model, Counts())]
        key = seen.key if seen.key is not None else NO_KEY
        if key in self.by_key or len(self.by_key) < MAX_KEYS_COUNTED:
            counts.append(self.by_key.setdefault(key, Counts()))
        return counts


def telling_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Keep the headers that tell a client's own retries; never a credential. Names are in lower case."""
    return {name: value for name, value in headers.items() if name in _TELLING_HEADERS}
