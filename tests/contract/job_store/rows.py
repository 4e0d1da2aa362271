"""Promises about rows: read, create, change, refuse, expire."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from onceward.domain.change import Counts, Fields, RowChange
from onceward.domain.conditions import HeldBy, IsJob, NoCancel
from onceward.domain.job import Job
from onceward.domain.names import RunToken
from onceward.domain.states import JobState, WaitingFor
from onceward.domain.transaction import Applied, CreateRow, Refused
from onceward.usecases.ports import Store
from tests.contract.job_store.full import a_full_job
from tests.contract.job_store.stories import (
    OTHER_TENANT,
    another_life,
    ask,
    present,
    refused,
    store_job,
    transact,
    update,
)
from tests.support.builders import NOW, TENANT, TOKEN, a_job, a_running_job, seconds


class RowPromises:
    """What holds of one row and one writer."""

    def test_absent_row_reads_as_none(self, store: Store) -> None:
        """Nothing is there before a create."""
        assert ask(store.get_job(TENANT, a_job().identity)) is None

    @pytest.mark.parametrize("job", [a_job(), a_running_job(), a_full_job()], ids=["queued", "running", "full"])
    def test_created_row_reads_as_it_was_written(self, store: Store, job: Job) -> None:
        """Every field survives, in whatever state."""
        store_job(store, job)

        assert present(store, job) == job

    def test_row_of_another_tenant_reads_as_absent(self, store: Store) -> None:
        """The same identity under another tenant is another place."""
        job = store_job(store, a_job())

        assert ask(store.get_job(OTHER_TENANT, job.identity)) is None

    def test_create_over_a_live_row_is_refused_with_that_row(self, store: Store) -> None:
        """The first life stays, and its row tells the second who was there."""
        first = store_job(store, a_job())
        second = another_life(first, "D")

        assert transact(store, CreateRow(second, NOW)) == Refused(row=first, is_row_refused=True)
        assert present(store, first) == first

    @pytest.mark.failure_mode("F70")
    def test_create_replaces_a_row_from_the_instant_it_expires(self, store: Store) -> None:
        """An expired row counts as absent, whether or not TTL has removed it."""
        first = store_job(store, a_job(expires_at=NOW))
        second = another_life(first, "D")

        assert transact(store, CreateRow(second, NOW)) == Applied()
        assert present(store, first) == second

    def test_create_is_refused_a_moment_before_the_row_expires(self, store: Store) -> None:
        """Seconds and milliseconds are not mixed up."""
        first = store_job(store, a_job(expires_at=NOW))
        reply = transact(store, CreateRow(another_life(first, "D"), NOW - timedelta(milliseconds=1)))

        assert refused(reply).row == first

    def test_expired_row_still_reads(self, store: Store) -> None:
        """Callers compare ``expires_at`` themselves."""
        job = store_job(store, a_job(expires_at=NOW - timedelta(days=1)))

        assert present(store, job) == job

    def test_expiry_is_kept_in_whole_seconds_and_never_earlier(self, store: Store) -> None:
        """TTL knows seconds: what lies in between lives a little longer."""
        job = store_job(store, a_job(expires_at=NOW + timedelta(milliseconds=1)))

        assert job.expires_at == NOW + seconds(1)

    def test_applied_change_returns_the_row_before_it(self, store: Store) -> None:
        """One answer holds both: it was applied, and to what."""
        job = store_job(store, a_running_job())
        change = RowChange(when=(HeldBy(TOKEN),), set=Fields(lease_until=NOW + seconds(90)), add=Counts(seq=1))

        assert update(store, job, change) == Applied(before=job)
        assert present(store, job) == change.apply(job)

    def test_refused_change_returns_the_row_and_leaves_it(self, store: Store) -> None:
        """The row comes with the refusal: nothing has to be read to see who was faster."""
        job = store_job(store, a_running_job())
        change = RowChange(when=(HeldBy(RunToken("X" * 26)),), set=Fields(state=JobState.FAILED))

        assert update(store, job, change) == Refused(row=job, is_row_refused=True)
        assert present(store, job) == job

    def test_change_of_an_absent_row_is_refused_and_makes_none(self, store: Store) -> None:
        """A condition that asks for absence must not be true of a row that is not there."""
        change = RowChange(when=(NoCancel(),), set=Fields(cancel_requested_at=NOW))

        assert update(store, a_job(), change) == Refused(row=None, is_row_refused=True)
        assert ask(store.get_job(TENANT, a_job().identity)) is None

    def test_change_of_another_life_is_refused_with_the_present_one(self, store: Store) -> None:
        """A late worker of an expired life finds its key in other hands."""
        job = store_job(store, a_job())
        earlier = another_life(job, "D")
        change = RowChange(when=(IsJob(earlier.job_id),), set=Fields(lost=1))

        assert update(store, earlier, change) == Refused(row=job, is_row_refused=True)

    def test_every_field_can_be_set(self, store: Store) -> None:
        """What a write may set is stored as what it is."""
        job, full = store_job(store, a_job()), a_full_job()
        fields = Fields(**{name: getattr(full, name) for name in Fields.__annotations__})  # type: ignore[typeddict-item]
        update(store, job, RowChange(when=(), set=fields))

        assert present(store, job) == replace(job, **fields)

    def test_none_removes_what_was_set(self, store: Store) -> None:
        """A field that is set to nothing reads as if it had never been set."""
        job = store_job(store, a_full_job())
        gone = Fields(waiting_for=None, wake_at=None, run_token=None, lease_until=None, attempt=None, result=None)
        gone["open"], gone["accepted"], gone["error_code"] = (), {}, None
        update(store, job, RowChange(when=(), set=gone))

        assert present(store, job) == replace(job, **gone)

    def test_counts_are_added_to_and_win_over_what_is_set(self, store: Store) -> None:
        """A blind write counts without knowing the value, as ``RowChange.apply`` says."""
        job = store_job(store, a_running_job(lost=1))
        change = RowChange(when=(), set=Fields(attempts=9), add=Counts(attempts=1, lost=1, seq=1))
        update(store, job, change)

        assert present(store, job) == replace(job, attempts=2, lost=2, seq=3)

    def test_all_conditions_must_hold(self, store: Store) -> None:
        """One that does not is enough to refuse."""
        job = store_job(store, a_running_job(cancel_requested_at=NOW))
        change = RowChange(when=(HeldBy(TOKEN), NoCancel()), set=Fields(waiting_for=WaitingFor.LOOKUP))

        assert refused(update(store, job, change)).row == job
