"""Promises about circuit breakers: whoever saw the present state may replace it, and nobody else."""

from __future__ import annotations

from dataclasses import replace

from onceward.domain.breaking import Breaker
from onceward.usecases.ports import Store
from tests.contract.job_store.stories import ask
from tests.support.builders import NOW, seconds

FIRST = Breaker(name="openai:gpt-5-mini", token="first", streak=2, failed_at=NOW)
OPEN = Breaker(
    name="openai:gpt-5-mini",
    token="open",
    opened_at=NOW,
    openings=2,
    probe_at=NOW + seconds(30),
    successes=1,
)


class BreakerPromises:
    """What holds of a breaker and its writers."""

    def test_unknown_breaker_reads_as_none(self, store: Store) -> None:
        """Nothing ever failed there."""
        assert ask(store.get_breaker("openai:gpt-5-mini")) is None
        assert ask(store.list_breakers()) == ()

    def test_breaker_reads_as_it_was_put(self, store: Store) -> None:
        """Closed and counting, then open; all are listed by name."""
        other = replace(FIRST, name="bedrock:amazon.nova-lite-v1:0/x")
        assert ask(store.put_breaker(FIRST, None))
        assert ask(store.get_breaker(FIRST.name)) == FIRST
        assert ask(store.put_breaker(OPEN, "first"))
        assert ask(store.get_breaker(FIRST.name)) == OPEN
        assert ask(store.put_breaker(other, None))
        assert ask(store.list_breakers()) == (other, OPEN)

    def test_whoever_saw_another_state_is_refused(self, store: Store) -> None:
        """Of two workers that saw the same state one counts; the other finds the token of the one that won."""
        ask(store.put_breaker(FIRST, None))

        assert not ask(store.put_breaker(OPEN, None))
        assert not ask(store.put_breaker(OPEN, "another"))
        assert ask(store.get_breaker(FIRST.name)) == FIRST
