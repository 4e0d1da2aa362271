"""Promises about the two indexes: what is due, and what a tenant has."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from onceward.domain.change import Fields, RowChange
from onceward.domain.due import REVIEW_SHARD, shard_of_row
from onceward.domain.job import Job
from onceward.domain.names import JobId, TenantId
from onceward.domain.states import JobState
from onceward.errors import InvalidInput
from onceward.usecases.ports import DueRow, Store
from tests.contract.job_store.stories import OTHER_TENANT, a_numbered_job, another_life, ask, store_job, update
from tests.support.builders import NOW, TENANT, a_job, seconds

MANY = 50


def due_in(store: Store, shard: str) -> tuple[DueRow, ...]:
    """All that is due now in a shard."""
    return ask(store.due_page(shard, NOW, MANY))


def due_row(job: Job) -> DueRow:
    """What the index should know of a row."""
    assert job.due is not None
    return DueRow(job.tenant_id, job.identity, job.due)


def change_to(**fields: object) -> RowChange:
    """A change without conditions."""
    return RowChange(when=(), set=Fields(**fields))  # type: ignore[typeddict-item]


def whole_list(store: Store, tenant_id: TenantId, limit: int) -> list[JobId]:
    """A tenant's list, followed to its end."""
    found: list[JobId] = []
    page = ask(store.tenant_page(tenant_id, None, limit))
    found.extend(page.job_ids)
    while page.next_key is not None:
        page = ask(store.tenant_page(tenant_id, page.next_key, limit))
        assert len(page.job_ids) <= limit
        found.extend(page.job_ids)
    return found


class DuePromises:
    """What holds of the index that belongs to the sweeper."""

    def test_due_rows_come_oldest_first_up_to_now(self, store: Store) -> None:
        """What is due later is not on the page; the limit cuts the newest."""
        shard = shard_of_row(a_numbered_job(0))
        numbered = [a_numbered_job(number) for number in range(MANY)]
        mates = [job for job in numbered if shard_of_row(job) == shard][:3]
        late, early, now = (
            replace(job, due=NOW + seconds(after)) for job, after in zip(mates, (1, -60, 0), strict=True)
        )
        for job in (late, early, now):
            store_job(store, job)

        assert due_in(store, shard) == (due_row(early), due_row(now))
        assert ask(store.due_page(shard, NOW, 1)) == (due_row(early),)

    def test_shard_is_counted_with_all_that_is_due_later(self, store: Store) -> None:
        """What has ended is not in it; reviews are counted in their own."""
        job = store_job(store, a_job(due=NOW + seconds(3600)))
        shard = shard_of_row(job)

        assert (ask(store.count_due(shard)), ask(store.count_due(REVIEW_SHARD))) == (1, 0)
        update(store, job, change_to(state=JobState.NEEDS_REVIEW, due=NOW))
        assert (ask(store.count_due(shard)), ask(store.count_due(REVIEW_SHARD))) == (0, 1)
        update(store, job, change_to(state=JobState.FAILED, due=None))
        assert (ask(store.count_due(shard)), ask(store.count_due(REVIEW_SHARD))) == (0, 0)

    def test_removed_due_leaves_the_index(self, store: Store) -> None:
        """A job that has nothing left to do is not found by a sweep."""
        job = store_job(store, a_job())
        update(store, job, change_to(state=JobState.SUCCEEDED, due=None))

        assert due_in(store, shard_of_row(job)) == ()

    def test_due_alone_comes_back_where_it_was(self, store: Store) -> None:
        """A write that sets ``due`` need not know the shard, not even after it was removed."""
        job = store_job(store, a_job())
        update(store, job, change_to(due=None))
        update(store, job, change_to(due=NOW))

        assert due_in(store, shard_of_row(job)) == (due_row(replace(job, due=NOW)),)

    def test_entering_review_moves_to_its_own_shard(self, store: Store) -> None:
        """Reviews wait for weeks; pages of live work stay small."""
        job = store_job(store, a_job())
        update(store, job, change_to(state=JobState.NEEDS_REVIEW, due=NOW))

        assert due_in(store, shard_of_row(job)) == ()
        assert due_in(store, REVIEW_SHARD) == (due_row(replace(job, due=NOW)),)

    def test_claim_moves_neither_due_nor_shard(self, store: Store) -> None:
        """A state that is set without ``due`` leaves the index alone."""
        job = store_job(store, a_job(state=JobState.NEEDS_REVIEW))
        update(store, job, change_to(state=JobState.RUNNING))

        assert due_in(store, REVIEW_SHARD) == (due_row(job),)


class ListPromises:
    """What holds of a tenant's list."""

    @pytest.mark.parametrize("limit", [1, 2, 3, MANY])
    def test_list_is_newest_first_and_complete(self, store: Store, limit: int) -> None:
        """However it is cut into pages, each job is on one of them."""
        jobs = [a_numbered_job(number, created_at=NOW - timedelta(minutes=number)) for number in range(6)]
        for job in reversed(jobs):
            store_job(store, job)

        assert whole_list(store, TENANT, limit) == [job.job_id for job in jobs]

    def test_jobs_of_one_millisecond_are_all_listed(self, store: Store) -> None:
        """Equal instants neither hide nor repeat a job."""
        jobs = [another_life(a_numbered_job(number), letter) for number, letter in enumerate("KLMNO")]
        for job in jobs:
            store_job(store, job)

        assert sorted(whole_list(store, TENANT, 2)) == sorted(job.job_id for job in jobs)

    def test_list_holds_one_tenant_only(self, store: Store) -> None:
        """Another tenant's cursor opens one's own list, never the other's."""
        for number in range(3):
            store_job(store, a_numbered_job(number))
        own = store_job(store, a_numbered_job(9, tenant_id=OTHER_TENANT, created_at=NOW - timedelta(days=1)))
        foreign = ask(store.tenant_page(TENANT, None, 1)).next_key

        assert whole_list(store, OTHER_TENANT, 2) == [own.job_id]
        assert ask(store.tenant_page(OTHER_TENANT, foreign, 2)).job_ids == (own.job_id,)

    def test_empty_list(self, store: Store) -> None:
        """A tenant without jobs has a page without jobs, and no next one."""
        page = ask(store.tenant_page(TENANT, None, MANY))

        assert (page.job_ids, page.next_key) == ((), None)

    @pytest.mark.parametrize("cursor", ["", "x", "1764526774123-", "1764526774123-a#b", "{}"])
    def test_cursor_that_was_never_given_out_is_refused(self, store: Store, cursor: str) -> None:
        """It comes from a client, who is told so."""
        with pytest.raises(InvalidInput):
            ask(store.tenant_page(TENANT, cursor, MANY))
