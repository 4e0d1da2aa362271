"""Promises about kill switches: off by name, until somebody switches that name on."""

from __future__ import annotations

from onceward.usecases.ports import Store
from tests.contract.job_store.stories import ask, fund
from tests.support.builders import TENANT


class SwitchPromises:
    """What holds of the switches and one operator."""

    def test_everything_is_on_at_first(self, store: Store) -> None:
        """Nothing was ever switched: nothing is off, also where something is switched on."""
        assert ask(store.switched_off()) == frozenset()
        assert ask(store.switch("all", is_on=True)) == frozenset()
        assert ask(store.switched_off()) == frozenset()

    def test_each_name_is_switched_for_itself(self, store: Store) -> None:
        """What is off afterwards comes back, and is read so by everybody; asking twice changes nothing."""
        ask(store.switch("all", is_on=False))
        both = frozenset({"all", "kind:text.generate"})

        assert ask(store.switch("kind:text.generate", is_on=False)) == both
        assert ask(store.switch("kind:text.generate", is_on=False)) == both
        assert ask(store.switch("all", is_on=True)) == frozenset({"kind:text.generate"})
        assert ask(store.switched_off()) == frozenset({"kind:text.generate"})
        assert ask(store.switch("kind:text.generate", is_on=True)) == frozenset()
        assert ask(store.switched_off()) == frozenset()

    def test_switches_are_nobody_s_account(self, store: Store) -> None:
        """They lie beside the accounts and touch none."""
        account = fund(store, 1_000)
        ask(store.switch("all", is_on=False))

        assert ask(store.get_account(TENANT)) == account
