"""One computation for many identical questions, on the deployed stack: the model's own count is the witness."""

from __future__ import annotations

from collections import Counter
from uuid import uuid4

import pytest

from onceward.domain.job import Job
from onceward.domain.money import Cost
from onceward.domain.names import TenantId
from onceward.domain.states import JobState, WaitingFor
from tests.scenarios.stack import PATIENCE_WITH_STARTS, until
from tests.scenarios.witness import Witness, assert_books_agree
from tests.support.deployed.terms import TARIFF
from tests.support.model_server import ModelServer

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(900)]  # many processes start, on however busy a machine

MANY = 20
SHARED, OF_DOCUMENT = "test.shared", "test.shared_document"
TWO = 2


def all_in_one_flight(witness: Witness, ids: list[str]) -> Job:
    """The one flight, once all of these jobs wait for it."""

    def look() -> Job | None:
        rows = [witness.row(job_id) for job_id in ids]
        names = {row.flight for row in rows if row.waiting_for is WaitingFor.FLIGHT}
        if len(names) != 1 or any(row.state is not JobState.WAITING for row in rows):
            return None
        return witness.row(str(names.pop()))

    return until(look, "all of them wait for one flight", PATIENCE_WITH_STARTS)


def at_rest(witness: Witness, ids: list[str]) -> list[Job]:
    """Their rows once all have ended, with the sweeper making passes."""

    def look() -> list[Job] | None:
        rows = [witness.row(job_id) for job_id in ids]
        if all(row.state.is_terminal for row in rows):
            return rows
        witness.stack.sweep()
        return None

    return until(look, "all of them have ended", PATIENCE_WITH_STARTS, pause=0.5)


def test_twenty_equal_jobs_make_one_call_and_have_twenty_results(witness: Witness, model: ModelServer) -> None:
    """Each is charged by tariff; the provider's cost stands on the flight alone, and each shows that it was shared."""
    model.behave(text="<many>", hold="many", stage="after")
    ids = [witness.created(SHARED, "<many>") for _ in range(MANY)]
    flight = all_in_one_flight(witness, ids)
    assert flight.participants == MANY
    model.release("many")
    rows = at_rest(witness, ids)
    shown = [witness.shown(job_id) for job_id in ids]

    assert model.counts()["requests"] == 1
    assert {row.state for row in rows} == {JobState.SUCCEEDED}
    assert {(row.charge_micro_usd, row.spent) for row in rows} == {(TARIFF, Cost.nothing())}
    assert {(one["shared"], one["result"]["text"]) for one in shown} == {(True, shown[0]["result"]["text"])}
    assert all(witness.entries(job_id) == ["capture", "reserve"] for job_id in ids)
    landed = witness.row(flight.job_id)
    assert (landed.state, landed.spent) != (JobState.SUCCEEDED, Cost.nothing())
    assert (
        witness.stack.http.get(
            f"/api/ai/jobs/{flight.job_id}", headers=witness.stack.headers(witness.tenant)
        ).status_code
        == 404
    )
    assert_books_agree(witness.account)


def test_cancelling_the_first_leaves_nineteen_results(witness: Witness, model: ModelServer) -> None:
    """Invariant 13: who started the flight leaves, and nobody else notices."""
    model.behave(text="<first>", hold="first", stage="after")
    ids = [witness.created(SHARED, "<first>") for _ in range(MANY)]
    flight = all_in_one_flight(witness, ids)
    first = min(ids, key=lambda job_id: str(witness.items(flight.job_id).index(f"participant#{job_id}")))
    assert witness.cancel(first)["status"] == "cancelled"
    model.release("first")
    rows = at_rest(witness, ids)

    assert Counter(row.state for row in rows) == {JobState.SUCCEEDED: MANY - 1, JobState.CANCELLED: 1}
    assert model.counts()["requests"] == 1
    assert witness.entries(first) == ["release", "reserve"]
    assert witness.row(flight.job_id).participants == MANY - 1
    assert_books_agree(witness.account)


@pytest.mark.failure_mode("F78")
def test_a_killed_worker_costs_one_takeover(witness: Witness, model: ModelServer) -> None:
    """The flight's process dies before it asks; another takes over, asks once, and all twenty are served."""
    ids = [witness.created(SHARED, "<killed> [[kill before_sent]]") for _ in range(MANY)]
    rows = at_rest(witness, ids)
    flights = [witness.row(name) for name in sorted({str(row.flight) for row in rows})]

    assert {row.state for row in rows} == {JobState.SUCCEEDED}
    assert {row.is_shared for row in rows} == {True}
    assert max(flight.attempts for flight in flights) == TWO
    assert model.counts()["requests"] == len(flights)
    assert all(witness.calls(flight.job_id).requests == 1 for flight in flights)


@pytest.mark.failure_mode("F80")
def test_tenants_and_documents_are_never_mixed(witness: Witness, model: ModelServer) -> None:
    """The same text for two tenants is two calls, and so is one question about two uploads of the same bytes."""
    stack, other = witness.stack, Witness(stack=witness.stack, tenant=TenantId("globex"))
    model.behave(text="<apart>", hold="apart", stage="after")
    documents = [stack.upload(b"the same", content_type="text/plain", tenant=witness.tenant) for _ in range(TWO)]
    questions = [(witness, SHARED, {"prompt": "<apart>"}), (other, SHARED, {"prompt": "<apart>"})]
    questions += [(witness, OF_DOCUMENT, {"prompt": "<apart>", "document_id": one}) for one in documents]
    made = [
        (by, [stack.created(kind, given, key=str(uuid4()), tenant=by.tenant) for _ in range(TWO)])
        for by, kind, given in questions
    ]
    flights = {all_in_one_flight(by, ids).job_id for by, ids in made}
    model.release("apart")

    assert len(flights) == len(questions)
    assert {row.state for by, ids in made for row in at_rest(by, ids)} == {JobState.SUCCEEDED}
    assert model.counts()["requests"] == len(questions)


def test_a_failed_flight_leaves_each_to_its_own_policy(witness: Witness, model: ModelServer) -> None:
    """A refusal that passes is retried by each, together again; one that does not ends each with its code."""
    model.behave(text="<busy>", status=429, times=1)
    model.behave(text="<refused>", status=400)
    busy = [witness.created(SHARED, "<busy>") for _ in range(5)]
    refused = [witness.created(SHARED, "<refused>") for _ in range(5)]
    rows, failed = at_rest(witness, busy), at_rest(witness, refused)

    assert {row.state for row in rows} == {JobState.SUCCEEDED}
    assert {row.attempts for row in rows} <= {1, TWO}
    assert TWO in {row.attempts for row in rows}
    assert {row.state for row in failed} == {JobState.FAILED}
    assert len({row.error_code for row in failed}) == 1
    assert all(witness.entries(job_id) == ["release", "reserve"] for job_id in refused)
    assert_books_agree(witness.account)
