"""Promises about transactions: all or nothing, and reasons in their order; about tokens: a repeat is one write."""

from __future__ import annotations

from dataclasses import replace

import pytest

from onceward.domain.change import Counts, Fields, RowChange
from onceward.domain.conditions import HeldBy
from onceward.domain.ending import Verdict, is_own_end, settle_ops
from onceward.domain.job import Job
from onceward.domain.ledger import AccountChange, Entry, Verb, reserve
from onceward.domain.records import Input
from onceward.domain.states import JobState
from onceward.domain.transaction import (
    AddEntry,
    Applied,
    ChangeAccount,
    CreateRow,
    Op,
    PutCold,
    Refused,
    UpdateRow,
)
from onceward.errors import InfrastructureError
from onceward.usecases.ports import Store
from tests.contract.job_store.stories import (
    a_token,
    an_account,
    another_life,
    ask,
    fund,
    present,
    refused,
    store_job,
    transact,
)
from tests.support.builders import JOB_ID, NOW, OTHER_TOKEN, TENANT, TOKEN, a_job, a_running_job

DONE = Verdict(state=JobState.SUCCEEDED, charge_micro_usd=300)
INPUT = Input(tenant_id=TENANT, job_id=JOB_ID, body='{"prompt":"hello"}')


def a_create(job: Job, amount: int, *, is_capped: bool = False) -> tuple[Op, ...]:
    """What a create with a reservation writes."""
    entry = Entry(tenant_id=TENANT, job_id=job.job_id, epoch=1, verb=Verb.RESERVE, micro_usd=amount, at=NOW)
    held = replace(job, reserved_micro_usd=amount, in_flight=True)
    item = PutCold(replace(INPUT, job_id=job.job_id), job.expires_at)
    return CreateRow(held, NOW), item, ChangeAccount(reserve(TENANT, amount, is_capped=is_capped)), AddEntry(entry)


class TransactionPromises:
    """What holds of one write over several items."""

    @pytest.mark.failure_mode("F68")
    def test_create_writes_row_input_reservation_and_entry_at_once(self, store: Store) -> None:
        """All of it is there after one write."""
        fund(store, 1_000)
        job = replace(a_job(), reserved_micro_usd=400, in_flight=True)

        assert transact(store, *a_create(job, 400)) == Applied()
        assert present(store, job) == job
        assert ask(store.get_cold(TENANT, JOB_ID, "input")) == INPUT
        assert ask(store.get_account(TENANT)) == an_account(available=600, reserved=400, in_flight=1)

    def test_refused_budget_writes_nothing(self, store: Store) -> None:
        """A job that cannot be paid leaves no row, no input and no reservation."""
        fund(store, 1_000)

        assert transact(store, *a_create(a_job(), 1_001)) == Refused(
            account=an_account(available=1_000), is_account_refused=True
        )
        assert ask(store.get_job(TENANT, a_job().identity)) is None
        assert ask(store.get_cold(TENANT, JOB_ID, "input")) is None
        assert ask(store.get_account(TENANT)) == an_account(available=1_000)

    @pytest.mark.failure_mode("F67")
    def test_refused_entry_writes_nothing(self, store: Store) -> None:
        """What an entry says was done is not done again."""
        fund(store, 1_000)
        create = a_create(a_job(), 400)
        assert transact(store, create[-1]) == Applied()

        assert transact(store, *create) == Refused(is_entry_refused=True)
        assert ask(store.get_job(TENANT, a_job().identity)) is None
        assert ask(store.get_account(TENANT)) == an_account(available=1_000)

    def test_refused_row_comes_first_and_with_the_row(self, store: Store) -> None:
        """Even when the budget refuses too, the row can say "that was me"."""
        job = store_job(store, a_job())
        reply = refused(transact(store, *a_create(another_life(job, "D"), 400)))

        assert reply.row == job
        assert (reply.is_row_refused, reply.is_account_refused, reply.is_entry_refused) == (True, True, False)

    def test_update_of_an_absent_row_is_refused_without_a_row(self, store: Store) -> None:
        """Nothing is there to come back."""
        change = RowChange(when=(HeldBy(TOKEN),), set=Fields(lost=1))

        assert transact(store, UpdateRow(TENANT, JOB_ID, change)) == Refused(is_row_refused=True)

    def test_update_changes_the_row_as_it_would_alone(self, store: Store) -> None:
        """Conditions, values and counts are the same inside a transaction."""
        job = store_job(store, a_running_job())
        change = RowChange(when=(HeldBy(TOKEN),), set=Fields(run_token=None, lease_until=None), add=Counts(seq=1))

        assert transact(store, UpdateRow(TENANT, JOB_ID, change)) == Applied()
        assert present(store, job) == change.apply(job)

    def test_account_that_was_never_opened_refuses(self, store: Store) -> None:
        """Unlimited is the absence of an account, never one that is overdrawn."""
        assert refused(transact(store, ChangeAccount(reserve(TENANT, 1)))).is_account_refused
        assert ask(store.get_account(TENANT)) is None

    @pytest.mark.failure_mode("F69")
    @pytest.mark.parametrize(
        "change",
        [
            AccountChange(tenant_id=TENANT, available=-1),
            AccountChange(tenant_id=TENANT, reserved=-1),
            AccountChange(tenant_id=TENANT, captured=-1),
        ],
        ids=["available", "reserved", "captured"],
    )
    def test_no_part_of_an_account_falls_below_zero(self, store: Store, change: AccountChange) -> None:
        """Whatever is moved, the account stays as it is then."""
        fund(store, 1)
        transact(store, ChangeAccount(AccountChange(tenant_id=TENANT, available=-1)))

        assert refused(transact(store, ChangeAccount(change))).is_account_refused

    def test_move_of_nothing_needs_the_account_and_changes_nothing(self, store: Store) -> None:
        """A kind without a tariff captures zero of zero."""
        nothing = ChangeAccount(AccountChange(tenant_id=TENANT))
        assert refused(transact(store, nothing)).is_account_refused
        fund(store, 7)

        assert transact(store, nothing) == Applied()
        assert ask(store.get_account(TENANT)) == an_account(available=7)

    def test_settle_ends_the_row_and_moves_the_reservation(self, store: Store) -> None:
        """Captured once, the rest is free again."""
        fund(store, 1_000)
        transact(store, *a_create(a_running_job(), 400))
        job = present(store, a_job())

        assert transact(store, *settle_ops(job, TOKEN, DONE, NOW)) == Applied()
        assert present(store, job).state is JobState.SUCCEEDED
        assert ask(store.get_account(TENANT)) == an_account(available=700, captured=300)

    def test_settle_of_a_lost_lease_is_refused_and_moves_nothing(self, store: Store) -> None:
        """A stale worker changes neither the row nor the books."""
        fund(store, 1_000)
        transact(store, *a_create(a_running_job(), 400))
        job = present(store, a_job())

        assert refused(transact(store, *settle_ops(job, OTHER_TOKEN, DONE, NOW))).row == job
        assert ask(store.get_account(TENANT)) == an_account(available=600, reserved=400, in_flight=1)

    @pytest.mark.failure_mode("F7")
    def test_repeated_settle_under_a_new_token_finds_its_own_end(self, store: Store) -> None:
        """Long after the store has forgotten the token, the row still says that it was us; nothing is paid twice."""
        fund(store, 1_000)
        transact(store, *a_create(a_running_job(), 400))
        job = present(store, a_job())
        ops = settle_ops(job, TOKEN, DONE, NOW)
        transact(store, *ops)
        reply = refused(transact(store, *ops))

        assert reply.row is not None
        assert is_own_end(reply.row, TOKEN)
        assert ask(store.get_account(TENANT)) == an_account(available=700, captured=300)

    @pytest.mark.failure_mode("F7")
    def test_repeated_create_under_a_new_token_finds_its_own_row(self, store: Store) -> None:
        """The create token in the refused row tells that the first one was applied."""
        transact(store, CreateRow(a_job(), NOW))
        reply = refused(transact(store, CreateRow(a_job(), NOW)))

        assert reply.row is not None
        assert reply.row.create_token == a_job().create_token


class TokenPromises:
    """What holds of a request that is sent twice under one token, as SDKs do after a lost answer."""

    def test_repeated_transaction_is_applied_once_and_answered_alike(self, store: Store) -> None:
        """The second answer is the first one's, although its conditions no longer hold."""
        fund(store, 1_000)
        token = a_token()

        assert transact(store, *a_create(a_job(), 400), token=token) == Applied()
        assert transact(store, *a_create(a_job(), 400), token=token) == Applied()
        assert ask(store.get_account(TENANT)) == an_account(available=600, reserved=400, in_flight=1)

    def test_refused_transaction_may_be_repeated_and_then_applied(self, store: Store) -> None:
        """A token stands for what was applied, never for a refusal."""
        token = a_token()
        assert refused(transact(store, *a_create(a_job(), 400), token=token)).is_account_refused
        fund(store, 1_000)

        assert transact(store, *a_create(a_job(), 400), token=token) == Applied()

    @pytest.mark.failure_mode("F8")
    def test_token_with_other_contents_is_an_error(self, store: Store) -> None:
        """A token that was used for something else must not pass for success."""
        token = a_token()
        transact(store, CreateRow(a_job(), NOW), token=token)

        with pytest.raises(InfrastructureError):
            transact(store, CreateRow(a_job(kind="image.draw"), NOW), token=token)
