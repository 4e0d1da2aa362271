"""Promises about flights: a key points to one, a tenant has so many, and joining moves both rows or none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from onceward.domain.flights import Start, join_change, join_ops, start_ops
from onceward.domain.job import FLIGHT_SCHEMA, Job
from onceward.domain.leaving import leave_ops
from onceward.domain.names import CoalesceKey, JobId
from onceward.domain.records import Input, Participant
from onceward.domain.states import JobState, WaitingFor
from onceward.domain.timing import Timing
from onceward.domain.transaction import Applied, CountFlight, CreateRow, PointFlight, UpdateRow
from onceward.usecases.ports import Store
from tests.contract.job_store.stories import (
    OTHER_TENANT,
    a_numbered_job,
    ask,
    present,
    refused,
    store_job,
    transact,
)
from tests.support.builders import NOW, TENANT, TOKEN, a_running_job

KEY = CoalesceKey("K" * 52)
MOST = 3


def a_flight(number: int = 1, **fields: Any) -> Job:
    """A hidden job with one participant."""
    flight = {"participants": 1, "schema_version": FLIGHT_SCHEMA, "created_by": "flight", **fields}
    return a_numbered_job(900 + number, **flight)


def a_runner(number: int = 1) -> Job:
    """A job that a run holds, and that could join."""
    return a_running_job(job_id=a_numbered_job(number).job_id)


def joining(job: Job, flight: Job) -> UpdateRow:
    """Its own part of a join."""
    return UpdateRow(TENANT, job.job_id, join_change(job, TOKEN, flight.job_id, NOW, Timing()))


def member(job: Job, flight: Job) -> Participant:
    """Its name among those that the flight serves."""
    return Participant(tenant_id=TENANT, job_id=flight.job_id, participant=job.job_id, joined_at=NOW)


def starting(job: Job, flight: Job, *, seen: JobId | None = None, most: int = MOST) -> list[Any]:
    """All of a start."""
    given = Input(tenant_id=TENANT, job_id=flight.job_id, body="{}")
    start = Start(flight=flight, given=given, key=KEY, seen=seen, most_flights=most)
    return start_ops(joining(job, flight), member(job, flight), start)


def boarding(job: Job, flight: Job, *, most: int = MOST) -> list[Any]:
    """All of a join."""
    return join_ops(joining(job, flight), member(job, flight), most, NOW, flight.expires_at)


class FlightPromises:
    """What holds of starting, joining and leaving a flight."""

    def test_start_writes_both_rows_the_pointer_and_the_count_at_once(self, store: Store) -> None:
        """The participant waits for the flight; the key points to it; its input and participant are there."""
        job, flight = store_job(store, a_runner()), a_flight()
        assert transact(store, *starting(job, flight)) == Applied()
        row = present(store, job)

        assert (row.state, row.waiting_for, row.flight) == (JobState.WAITING, WaitingFor.FLIGHT, flight.job_id)
        assert present(store, flight) == replace(flight, expires_at=present(store, flight).expires_at)
        assert ask(store.get_flight(TENANT, KEY)) == flight.job_id
        assert ask(store.list_cold(TENANT, flight.job_id, "participant#")) == (member(job, flight),)

    def test_a_key_points_to_nothing_before_and_to_nobody_else_s_flight(self, store: Store) -> None:
        """Equal keys of two tenants are two keys."""
        assert ask(store.get_flight(TENANT, KEY)) is None
        transact(store, PointFlight(TENANT, KEY, a_flight().job_id, None, a_flight().expires_at))

        assert ask(store.get_flight(OTHER_TENANT, KEY)) is None

    def test_of_two_starts_the_second_is_refused_and_writes_nothing(self, store: Store) -> None:
        """Somebody else's flight is there now; it is to be joined instead."""
        first, second = store_job(store, a_runner(1)), store_job(store, a_runner(2))
        transact(store, *starting(first, a_flight(1)))
        reply = refused(transact(store, *starting(second, a_flight(2))))

        assert (reply.is_pointer_refused, reply.is_row_refused, reply.is_count_refused) == (True, False, False)
        assert present(store, second) == second
        assert ask(store.get_job(TENANT, a_flight(2).identity)) is None

    def test_next_flight_takes_the_place_of_the_one_that_was_seen(self, store: Store) -> None:
        """And of no other."""
        first, second = a_flight(1), a_flight(2)
        transact(store, PointFlight(TENANT, KEY, first.job_id, None, first.expires_at))
        wrong = PointFlight(TENANT, KEY, second.job_id, second.job_id, second.expires_at)
        assert refused(transact(store, wrong)).is_pointer_refused

        assert transact(store, replace(wrong, seen=first.job_id)) == Applied()
        assert ask(store.get_flight(TENANT, KEY)) == second.job_id

    def test_a_tenant_has_as_many_flights_as_it_may(self, store: Store) -> None:
        """Counting down makes room again, and is never refused."""
        up, down = CountFlight(TENANT, 1, 2), CountFlight(TENANT, -1)
        assert [transact(store, up) for _ in range(2)] == [Applied(), Applied()]
        assert refused(transact(store, up)).is_count_refused
        assert transact(store, down) == Applied()

        assert transact(store, up) == Applied()

    def test_a_limit_of_none_lets_no_flight_begin(self, store: Store) -> None:
        """The stage may switch coalescing off; the job's own row is untouched."""
        job = store_job(store, a_runner())
        reply = refused(transact(store, *starting(job, a_flight(), most=0)))

        assert (reply.is_count_refused, reply.is_pointer_refused) == (True, False)
        assert present(store, job) == job

    def test_join_counts_the_participant_and_keeps_its_name(self, store: Store) -> None:
        """Both rows move, and nothing of the flight's that its run could miss."""
        job, flight = store_job(store, a_runner()), store_job(store, a_flight(seq=7, state=JobState.RUNNING))
        assert transact(store, *boarding(job, flight)) == Applied()

        assert present(store, flight) == replace(flight, participants=2)
        assert present(store, job).flight == flight.job_id
        assert ask(store.list_cold(TENANT, flight.job_id, "participant#")) == (member(job, flight),)

    def test_join_of_a_flight_that_has_ended_brings_its_row(self, store: Store) -> None:
        """Refused by the flight's row alone; the participant stays as it is and knows why."""
        job, flight = store_job(store, a_runner()), store_job(store, a_flight(state=JobState.SUCCEEDED))
        reply = refused(transact(store, *boarding(job, flight)))

        assert reply.row == flight
        assert present(store, job) == job
        assert ask(store.list_cold(TENANT, flight.job_id, "participant#")) == ()

    def test_refusal_by_the_own_row_goes_before_the_flight_s(self, store: Store) -> None:
        """A run that has lost its job must learn that first."""
        job = store_job(store, replace(a_runner(), cancel_requested_at=NOW))
        flight = store_job(store, a_flight(state=JobState.FAILED))

        assert refused(transact(store, *boarding(job, flight))).row == job

    def test_leaving_counts_one_less_whatever_the_flight_does(self, store: Store) -> None:
        """Also when it has ended: the participant's own end is never refused by it."""
        flight = store_job(store, a_flight(state=JobState.SUCCEEDED, participants=2))
        job = replace(a_runner(), flight=flight.job_id)
        assert transact(store, *leave_ops(job)) == Applied()

        assert present(store, flight).participants == 1

    def test_a_flight_is_in_no_tenant_s_list(self, store: Store) -> None:
        """It is found by those that know its id, and by the sweeper."""
        job, flight = store_job(store, a_numbered_job(1)), a_flight()
        transact(store, CreateRow(flight, NOW))

        assert ask(store.tenant_page(TENANT, None, 10)).job_ids == (job.job_id,)
