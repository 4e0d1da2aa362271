"""The limit of jobs in flight on the deployed stack: refused beyond it, lifted as jobs end, and counted right."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from onceward.domain.names import TenantId
from onceward.domain.states import JobState, WaitingFor
from tests.scenarios.customers import quiet_afterwards, with_tenants
from tests.scenarios.operator import Operator
from tests.scenarios.stack import DeployedStack
from tests.scenarios.witness import Witness, assert_books_agree
from tests.support.model_server import ModelServer

__all__ = ["quiet_afterwards"]

TENANT = TenantId("tyrell")
RUN = uuid4()
MOST = 3
CROWD = 6  # creates at once for the one place that is left


@pytest.fixture
def customer(stack: DeployedStack) -> Witness:
    """The evidence about a tenant that is limited."""
    return Witness(stack=with_tenants(stack, TENANT), tenant=TENANT)


def asked(customer: Witness, prompt: str) -> httpx.Response:
    """POST a job under a key of its own, which its prompt is."""
    return customer.stack.create("test.patient", {"prompt": prompt}, key=f"{RUN} {prompt}", tenant=TENANT)


def asked_at_once(customer: Witness) -> dict[int, httpx.Response]:
    """A crowd's creates, by their numbers."""
    with ThreadPoolExecutor(CROWD) as pool:
        return dict(enumerate(pool.map(lambda number: asked(customer, f"<held {number}>"), range(CROWD))))


def set_behaviours(model: ModelServer) -> None:
    """One job goes to review, and those that are held wait for an hour."""
    model.behave(text="<unknown>", drop="reset", stage="after")
    model.behave(text="<held", status=429, headers={"retry-after": "3600"})


def in_flight(customer: Witness) -> tuple[int, int | None]:
    """How many jobs are in flight and how many may be, by ``GET /api/ai/account``."""
    shown: dict[str, Any] = customer.stack.http.get("/api/ai/account", headers=customer.stack.headers(TENANT)).json()
    return shown["in_flight"], shown["most_in_flight"]


def jobs_of(customer: Witness) -> list[str]:
    """The tenant's jobs, by its own list."""
    answer = customer.stack.http.get("/api/ai/jobs", headers=customer.stack.headers(TENANT)).json()
    return [job["job_id"] for job in answer["jobs"]]


def test_jobs_beyond_the_limit_are_refused_until_one_ends(
    customer: Witness, model: ModelServer, tmp_path: Path
) -> None:
    """A review and one that waits leave one place: of six creates one gets it; a refused one can be asked again."""
    operator = Operator.of(customer.stack, tmp_path)
    operator.grants(TENANT, "1")
    assert operator.types("account", "limit", TENANT, str(MOST)).code == 0
    before = len(jobs_of(customer))
    set_behaviours(model)
    unknown = asked(customer, "<unknown>").json()["job_id"]
    assert customer.at_rest(unknown).state is JobState.NEEDS_REVIEW
    held = asked(customer, "<held>").json()["job_id"]
    customer.when(held, lambda job: job.waiting_for is WaitingFor.RETRY, "it waits for an hour")
    answers = asked_at_once(customer)
    taken = {n: answer for n, answer in answers.items() if answer.status_code == httpx.codes.ACCEPTED}
    refused = {n: answer for n, answer in answers.items() if n not in taken}

    assert len(taken) == 1
    assert {(one.status_code, one.json()["code"]) for one in refused.values()} == {(429, "in_flight_limit_reached")}
    assert all(int(one.headers["retry-after"]) >= 1 for one in refused.values())
    assert in_flight(customer) == (MOST, MOST)
    assert len(jobs_of(customer)) == before + MOST  # nothing of a refused one is stored
    assert operator.finds(TENANT) == []

    customer.cancel(unknown)
    customer.when(unknown, lambda job: job.state is JobState.CANCELLED, "it has been cancelled")
    again = asked(customer, f"<held {min(refused)}>")
    assert again.status_code == httpx.codes.ACCEPTED  # its key was not used up
    assert in_flight(customer) == (MOST, MOST)

    for job_id in (held, again.json()["job_id"], next(iter(taken.values())).json()["job_id"]):
        customer.cancel(job_id)
    well = asked(customer, "<well>").json()["job_id"]
    assert customer.at_rest(well).state is JobState.SUCCEEDED
    customer.quiet()

    assert in_flight(customer) == (0, MOST)
    assert operator.finds(TENANT) == []
    assert_books_agree(customer.account)
    assert operator.types("account", "limit", TENANT, "--none").code == 0
    assert in_flight(customer) == (0, None)
