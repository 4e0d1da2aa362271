"""Promises about accounts: absent is unlimited, and a grant counts once."""

from __future__ import annotations

from dataclasses import replace

from onceward.domain.ledger import Account, capture, release, reserve
from onceward.domain.transaction import Applied, ChangeAccount
from onceward.usecases.ports import Store
from tests.contract.job_store.stories import OTHER_TENANT, a_grant, an_account, ask, fund, refused, transact
from tests.support.builders import TENANT


class AccountPromises:
    """What holds of a tenant's budget and one writer."""

    def test_absent_account_reads_as_none(self, store: Store) -> None:
        """No account: unlimited."""
        assert ask(store.get_account(TENANT)) is None

    def test_first_grant_opens_the_account(self, store: Store) -> None:
        """All of it is available."""
        assert fund(store, 1_000) == an_account(available=1_000)
        assert ask(store.get_account(TENANT)) == an_account(available=1_000)

    def test_same_grant_counts_once(self, store: Store) -> None:
        """Its entry says that it was done; whoever asks again learns the account as it is."""
        fund(store, 1_000)

        assert fund(store, 1_000) == an_account(available=1_000)

    def test_further_grants_add_up(self, store: Store) -> None:
        """Another entry is another grant."""
        fund(store, 1_000, number=1)

        assert fund(store, 500, number=2) == an_account(available=1_500)

    def test_book_tells_its_lines_by_the_beginning_of_their_names(self, store: Store) -> None:
        """Whole lines in the order of their names; the first amount stays, whatever is asked later under its name."""
        fund(store, 1_000, number=1)
        fund(store, 500, number=2)
        fund(store, 9_999, number=2)

        assert ask(store.list_entries(TENANT, "grant-")) == (a_grant(1, 1_000), a_grant(2, 500))
        assert ask(store.list_entries(TENANT, "grant-2#")) == (a_grant(2, 500),)
        assert ask(store.list_entries(TENANT, "")) == (a_grant(1, 1_000), a_grant(2, 500))
        assert ask(store.list_entries(OTHER_TENANT, "")) == ()

    def test_grant_reaches_one_tenant_only(self, store: Store) -> None:
        """Nobody else can spend it."""
        ask(store.grant(OTHER_TENANT, 1_000, a_grant(tenant_id=OTHER_TENANT)))

        assert ask(store.get_account(TENANT)) is None

    def test_limit_of_jobs_in_flight_needs_an_account(self, store: Store) -> None:
        """There is nothing to count on where nothing is limited."""
        assert ask(store.limit_account(TENANT, 3)) is None
        assert ask(store.get_account(TENANT)) is None

    def test_limit_stands_until_it_is_changed_or_taken_away(self, store: Store) -> None:
        """It is told by every reading of the account; asking twice changes nothing."""
        opened = fund(store, 10)

        assert ask(store.limit_account(TENANT, 3)) == replace(opened, most_in_flight=3)
        assert ask(store.limit_account(TENANT, 3)) == replace(opened, most_in_flight=3)
        assert ask(store.get_account(TENANT)) == replace(opened, most_in_flight=3)
        assert ask(store.limit_account(TENANT, None)) == opened

    def test_reservation_beyond_the_limit_is_refused_with_the_account(self, store: Store) -> None:
        """The count and the condition are one write, so that two creates cannot share the last place."""
        fund(store, 10)
        ask(store.limit_account(TENANT, 1))
        held = ChangeAccount(reserve(TENANT, 4, is_capped=True))

        assert transact(store, held) == Applied()
        refusal = refused(transact(store, held))
        assert refusal.is_account_refused
        assert refusal.account == Account(
            tenant_id=TENANT, granted=10, available=6, reserved=4, captured=0, in_flight=1, most_in_flight=1
        )

    def test_every_end_of_a_reservation_frees_its_place(self, store: Store) -> None:
        """Captured or released, one less is in flight."""
        fund(store, 10)
        for end in (capture(TENANT, 4, 3), release(TENANT, 4)):
            transact(store, ChangeAccount(reserve(TENANT, 4)))
            assert transact(store, ChangeAccount(end)) == Applied()

        assert ask(store.get_account(TENANT)) == an_account(available=7, captured=3)

    def test_reservation_that_was_never_counted_is_not_counted_off(self, store: Store) -> None:
        """A job that older code created ends like any other."""
        fund(store, 10)
        transact(store, ChangeAccount(replace(reserve(TENANT, 4), in_flight=0)))

        assert transact(store, ChangeAccount(release(TENANT, 4, was_counted=False))) == Applied()
        assert ask(store.get_account(TENANT)) == an_account(available=10)

    def test_limit_of_nothing_lets_nothing_in(self, store: Store) -> None:
        """0 is a limit, also on an account that has never counted."""
        fund(store, 10)
        ask(store.limit_account(TENANT, 0))

        assert refused(transact(store, ChangeAccount(reserve(TENANT, 0, is_capped=True)))).is_account_refused
