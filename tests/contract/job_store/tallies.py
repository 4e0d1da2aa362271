"""Promises about tallies: counted up to the limit, each window and tenant for itself."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from onceward.domain.tally import Counted, Limit, Tally, tally_at
from onceward.usecases.ports import Store
from tests.contract.job_store.stories import OTHER_TENANT, ask
from tests.support.builders import NOW, TENANT

LIMIT = Limit(Counted.CREATES, 3, timedelta(minutes=1))


def a_tally() -> Tally:
    """Three in the minute of NOW."""
    return tally_at(LIMIT, TENANT, NOW)


class TallyPromises:
    """What holds of one counter after the other."""

    def test_tally_counts_up_to_its_limit_and_no_further(self, store: Store) -> None:
        """What is full stays full."""
        assert [ask(store.count(a_tally())) for _ in range(5)] == [True, True, True, False, False]

    def test_next_window_begins_at_nothing(self, store: Store) -> None:
        """A full minute says nothing of the next one."""
        for _ in range(4):
            ask(store.count(a_tally()))

        assert ask(store.count(tally_at(LIMIT, TENANT, NOW + LIMIT.window)))

    def test_tenants_and_things_are_counted_apart(self, store: Store) -> None:
        """Nobody uses up another's, and documents are no creates."""
        for _ in range(3):
            ask(store.count(a_tally()))

        assert ask(store.count(replace(a_tally(), tenant_id=OTHER_TENANT)))
        assert ask(store.count(replace(a_tally(), counted=Counted.DOCUMENTS)))
        assert not ask(store.count(a_tally()))

    def test_raised_limit_holds_at_once(self, store: Store) -> None:
        """The limit is the counter's, not the tally's: a deploy that raises it helps in the same minute."""
        for _ in range(3):
            ask(store.count(a_tally()))

        assert ask(store.count(replace(a_tally(), most=4)))
