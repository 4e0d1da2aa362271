"""Writes whose answers got lost: the SDK repeats them, and every caller can tell that it was itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from onceward.adapters.dynamodb.store import DynamoStore
from onceward.adapters.system import SystemClock, SystemIds, ThreadRunner
from onceward.domain.claim import Claim, claim_change, is_own_claim
from onceward.domain.conditions import HeldBy
from onceward.domain.ending import (
    beat_change,
    is_own_end,
    is_own_next_attempt,
    next_attempt_change,
    settle_ops,
    wait_change,
)
from onceward.domain.states import JobState, WaitingFor
from onceward.domain.timing import Timing
from onceward.domain.transaction import Applied
from onceward.errors import StoreUnavailable
from onceward.usecases.ports import Store
from tests.contract.job_store.races import a_claimant
from tests.contract.job_store.stories import an_account, ask, fund, present, refused, store_job, transact, update
from tests.contract.job_store.transactions import DONE, a_create
from tests.support.builders import JOB_ID, NOW, TENANT, TOKEN, a_job, a_running_job, an_answer, seconds
from tests.support.emulators import dynamodb_at, make_tables
from tests.support.lossy import LossyPath, lossy

__all__ = ["lossy"]

SENDS = 3  # how often the client of adapters/dynamodb/client.py sends at most


@pytest.fixture
def store(lossy: LossyPath) -> Iterator[Store]:
    """The store over a path that loses answers on demand."""
    client = dynamodb_at(lossy.url)
    with ThreadRunner(1) as threads:
        yield DynamoStore(client, make_tables(client), threads, SystemClock(), SystemIds())


@pytest.mark.failure_mode("F4")
def test_claim_whose_answer_was_lost_is_known_by_its_token(store: Store, lossy: LossyPath) -> None:
    """The repeat is refused by the claim's own effect; one attempt was counted."""
    job, who = store_job(store, a_job()), a_claimant(1)
    lossy.lose_answers("UpdateItem")
    row = refused(update(store, job, claim_change(Claim.START, who))).row

    assert row is not None
    assert is_own_claim(row, who.token)
    assert row.attempts == 1


@pytest.mark.failure_mode("F5")
def test_ending_whose_answer_was_lost_is_known_by_its_token(store: Store, lossy: LossyPath) -> None:
    """The run's token stays on a row that runs no more."""
    job = store_job(store, a_running_job())
    lossy.lose_answers("UpdateItem")
    change = wait_change(job, TOKEN, NOW + seconds(5), WaitingFor.RETRY, Timing())
    row = refused(update(store, job, change)).row

    assert row is not None
    assert is_own_end(row, TOKEN)


@pytest.mark.failure_mode("F6")
def test_beat_whose_answer_was_lost_is_refused_by_its_own_effect_and_still_ours(store: Store, lossy: LossyPath) -> None:
    """The repeat would not prolong the lease any more; the row that comes back says whose it is."""
    job = store_job(store, a_running_job())
    change = beat_change(TOKEN, NOW + seconds(90))
    lossy.lose_answers("UpdateItem")
    reply = refused(update(store, job, change))

    assert present(store, job).lease_until == NOW + seconds(90)
    assert reply.row is not None
    assert HeldBy(TOKEN).holds(reply.row)


def test_next_attempt_whose_answer_was_lost_is_begun_once_and_known(store: Store, lossy: LossyPath) -> None:
    """It counts an attempt and a transition, so it names the row that it moves, and the repeat finds it moved."""
    job = store_job(store, a_running_job())
    change = next_attempt_change(job, TOKEN, NOW)
    lossy.lose_answers("UpdateItem")
    reply = refused(update(store, job, change))

    assert (present(store, job).attempts, present(store, job).seq) == (job.attempts + 1, job.seq + 1)
    assert reply.row is not None
    assert is_own_next_attempt(reply.row, TOKEN, change, job)


@pytest.mark.failure_mode("F1")
def test_create_whose_answer_was_lost_is_one_transaction(store: Store, lossy: LossyPath) -> None:
    """The repeat carries the same token: applied once, answered as applied."""
    fund(store, 1_000)
    lossy.lose_answers("TransactWriteItems")

    assert transact(store, *a_create(a_job(), 400)) == Applied()
    assert ask(store.get_account(TENANT)) == an_account(available=600, reserved=400, in_flight=1)


@pytest.mark.failure_mode("F67")
def test_settle_whose_answer_was_lost_pays_once(store: Store, lossy: LossyPath) -> None:
    """Row, account and entry moved together, one time."""
    fund(store, 1_000)
    transact(store, *a_create(a_running_job(), 400))
    job = present(store, a_job())
    lossy.lose_answers("TransactWriteItems")

    assert transact(store, *settle_ops(job, TOKEN, DONE, NOW)) == Applied()
    assert ask(store.get_account(TENANT)) == an_account(available=700, captured=300)


def test_settle_that_was_never_answered_is_found_ended(store: Store, lossy: LossyPath) -> None:
    """After the last repeat nobody knows; the row does."""
    job = store_job(store, a_running_job())
    lossy.lose_answers("TransactWriteItems", times=SENDS)

    with pytest.raises(StoreUnavailable):
        transact(store, *settle_ops(job, TOKEN, DONE, NOW))
    assert present(store, job).state is JobState.SUCCEEDED
    assert is_own_end(present(store, job), TOKEN)


def test_grant_whose_answer_was_lost_counts_once(store: Store, lossy: LossyPath) -> None:
    """Its entry refuses the repeat."""
    lossy.lose_answers("TransactWriteItems")

    assert fund(store, 1_000) == an_account(available=1_000)


def test_put_whose_answer_was_lost_says_that_something_is_there(store: Store, lossy: LossyPath) -> None:
    """It is the item itself: whoever needs to know reads it."""
    lossy.lose_answers("PutItem")

    assert not ask(store.put_cold(an_answer(), a_job().expires_at))
    assert ask(store.get_cold(TENANT, JOB_ID, an_answer().sort_key)) == an_answer()


def test_claim_whose_request_was_lost_is_sent_again(store: Store, lossy: LossyPath) -> None:
    """Nothing had happened: the repeat is the first."""
    job = store_job(store, a_job())
    lossy.lose_requests("UpdateItem")

    assert update(store, job, claim_change(Claim.START, a_claimant(1))) == Applied(before=job)


def test_store_that_never_answers_is_an_outage(store: Store, lossy: LossyPath) -> None:
    """As many sends as the client is configured for, and no more."""
    job = store_job(store, a_job())
    lossy.lose_requests("UpdateItem", times=SENDS)

    with pytest.raises(StoreUnavailable):
        update(store, job, claim_change(Claim.START, a_claimant(1)))
    assert update(store, job, claim_change(Claim.START, a_claimant(2))) == Applied(before=job)
