"""Promises about cold items: the first one stays, and lists are complete and in order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from onceward.domain.job import PresentAttempt
from onceward.domain.money import Cost
from onceward.domain.names import StepKey
from onceward.domain.records import Answer, ColdItem, Input, PastAttempt, Result, Usage, answer_prefix, attempt_prefix
from onceward.domain.states import AttemptOutcome, CallState
from onceward.usecases.ports import Store
from tests.contract.job_store.stories import OTHER_TENANT, another_life, ask
from tests.support.builders import JOB_ID, NOW, TENANT, a_job, an_answer, seconds

EXPIRES_AT = a_job().expires_at
BIG = "x" * 250_000  # near the limit above which callers go to the blob store

FULL_ANSWER = an_answer(
    usage=Usage(input=100, cached=20, cache_write=3, output=50, reasoning=10),
    cost=Cost(low=10, high=20, unpriced=True),
    model="stand-in-1",
    request_id="req-1",
    error_class="rate_limited",
    error_code="429",
    state=CallState.FAILED,
)
ITEMS: tuple[ColdItem, ...] = (
    Input(tenant_id=TENANT, job_id=JOB_ID, body='{"prompt":"hällo"}'),
    Input(tenant_id=TENANT, job_id=JOB_ID, body=None, blob_key="jobs/1/input"),
    FULL_ANSWER,
    replace(FULL_ANSWER, body=None, blob_key="jobs/1/call", usage=None, cost=Cost.nothing()),
    Result(tenant_id=TENANT, job_id=JOB_ID, epoch=1, attempt=2, body=""),
    Result(tenant_id=TENANT, job_id=JOB_ID, epoch=1, attempt=2, body=None, blob_key="jobs/1/result"),
    PastAttempt(
        tenant_id=TENANT,
        job_id=JOB_ID,
        epoch=1,
        number=1,
        attempt=PresentAttempt(
            started_at=NOW, ended_at=NOW + seconds(1), outcome=AttemptOutcome.UNKNOWN, cost=Cost.maybe(9)
        ),
    ),
)


def put(store: Store, item: ColdItem) -> bool:
    """Put an item for as long as its job is kept."""
    return ask(store.put_cold(item, EXPIRES_AT))


def past_attempt(epoch: int, number: int) -> PastAttempt:
    """An attempt that was interrupted."""
    attempt = PresentAttempt(started_at=NOW, outcome=AttemptOutcome.INTERRUPTED)
    return PastAttempt(tenant_id=TENANT, job_id=JOB_ID, epoch=epoch, number=number, attempt=attempt)


class ItemPromises:
    """What holds of the items beside a row."""

    @pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.sort_key)
    def test_item_reads_as_it_was_put(self, store: Store, item: ColdItem) -> None:
        """Every field of every class survives."""
        assert put(store, item)
        assert ask(store.get_cold(TENANT, JOB_ID, item.sort_key)) == item

    def test_absent_item_reads_as_none(self, store: Store) -> None:
        """Nothing is there before it is put."""
        assert ask(store.get_cold(TENANT, JOB_ID, "input")) is None

    def test_second_item_at_a_place_is_turned_away(self, store: Store) -> None:
        """What is there was written first, and stays."""
        first, second = an_answer(body="first"), an_answer(body="second")

        assert put(store, first)
        assert not put(store, second)
        assert ask(store.get_cold(TENANT, JOB_ID, first.sort_key)) == first

    def test_own_item_put_again_is_turned_away_too(self, store: Store) -> None:
        """The store does not compare: whoever repeats a put reads the place to see that it was its own."""
        assert put(store, an_answer())
        assert not put(store, an_answer())

    def test_list_holds_all_of_a_prefix_in_its_order(self, store: Store) -> None:
        """Epochs and attempts are ordered as numbers, not as text."""
        attempts = [past_attempt(epoch, number) for epoch, number in ((10, 1), (2, 10), (2, 9), (1, 1))]
        items: list[ColdItem] = [*attempts, an_answer(), Input(tenant_id=TENANT, job_id=JOB_ID, body="{}")]
        for item in items:
            put(store, item)

        assert ask(store.list_cold(TENANT, JOB_ID, attempt_prefix())) == tuple(reversed(attempts))
        assert ask(store.list_cold(TENANT, JOB_ID, answer_prefix())) == (an_answer(),)
        assert len(ask(store.list_cold(TENANT, JOB_ID, ""))) == len(attempts) + 2

    def test_list_goes_on_past_a_page_of_the_store(self, store: Store) -> None:
        """A megabyte of answers is listed to the end."""
        answers = tuple(an_answer(step=StepKey(f"step-{number}/1"), body=BIG) for number in range(6))
        for answer in answers:
            put(store, answer)
        listed = ask(store.list_cold(TENANT, JOB_ID, answer_prefix()))

        assert [item.sort_key for item in answers] == [item.sort_key for item in listed if isinstance(item, Answer)]

    def test_empty_list(self, store: Store) -> None:
        """Nothing is listed where nothing is."""
        assert ask(store.list_cold(TENANT, JOB_ID, answer_prefix())) == ()

    def test_items_of_another_life_or_tenant_are_elsewhere(self, store: Store) -> None:
        """A second life of a key never sees the first one's answers, nor does another tenant."""
        put(store, an_answer())
        other_id, place = another_life(a_job(), "D").job_id, an_answer().sort_key

        assert ask(store.get_cold(TENANT, other_id, place)) is None
        assert ask(store.get_cold(OTHER_TENANT, JOB_ID, place)) is None
        assert ask(store.list_cold(OTHER_TENANT, JOB_ID, "")) == ()
