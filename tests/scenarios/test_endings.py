"""Every job ends: one whose code kills its process, one past its review's limit, one whose attempts were taken away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from onceward.domain.states import JobState, WaitingFor
from tests.scenarios.lost_jobs import evidence_of
from tests.scenarios.stack import until
from tests.scenarios.witness import Calls, Witness, assert_books_agree
from tests.scenarios.worker_settings import told
from tests.support.model_server import ModelServer

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(900)]  # many processes start, on however busy a machine

LONG_AGO = timedelta(days=31)  # a review's limit is thirty days


@pytest.fixture(autouse=True)
def _quiet(witness: Witness, model: ModelServer) -> Iterator[None]:
    """Nothing is under way between these tests."""
    yield
    witness.quiet()
    assert_books_agree(witness.account)


def test_code_that_kills_its_process_over_an_answer_ends_after_three_losses(witness: Witness) -> None:
    """Three runs are lost to it; the fourth runs none of its code. What was paid for is a person's to judge."""
    job_id = witness.created("test.lethal", "Say something deadly.")
    witness.at_rest(job_id)
    witness.quiet()
    found = evidence_of(witness, job_id)

    assert found.row.state is JobState.NEEDS_REVIEW
    assert found.outcomes == ("interrupted", "interrupted")
    assert found.calls == Calls(requests=1, computations=1)
    assert found.verbs == ["reserve"]
    assert len(found.letters) == 1

    witness.cancel(job_id)
    witness.when(job_id, lambda job: job.state is JobState.CANCELLED, "it has been cancelled")
    assert witness.entries(job_id) == ["release", "reserve"]


def test_review_past_its_limit_fails_and_frees_the_money(witness: Witness, model: ModelServer) -> None:
    """A month after a maybe that nobody judged: failed, released, and the letter is not sent again."""
    model.behave(drop="reset", stage="after")
    job_id = witness.created("test.ask", "Nobody will ever know.")
    row = witness.at_rest(job_id)
    witness.quiet()
    assert (row.state, len(witness.letters(job_id))) == (JobState.NEEDS_REVIEW, 1)

    row = witness.row(job_id)
    assert row.review_until is not None
    past = row.review_until - LONG_AGO
    witness.overwrite(replace(row, review_until=past, wake_at=past, due=past))
    until(lambda: witness.stack.sweep().get("wake"), "the review is woken")
    witness.when(job_id, lambda job: job.state is JobState.FAILED, "it has failed")
    witness.quiet()
    found = evidence_of(witness, job_id)

    assert found.row.error_code == "review_expired"
    assert found.calls == Calls(requests=1, computations=1)
    assert found.verbs == ["release", "reserve"]
    assert len(found.letters) == 1


def test_deploy_that_lowers_the_attempts_ends_a_waiting_job(witness: Witness, model: ModelServer) -> None:
    """Its first attempt of three was refused; when it wakes, one is all there may be."""
    model.behave(status=429, headers={"retry-after": "4"})
    job_id = witness.created("test.lowered", "Three times, please.")
    witness.when(job_id, lambda job: job.waiting_for is WaitingFor.RETRY, "it waits for its second attempt")
    with told(witness, while_waiting=True, ONCEWARD_TEST_MAX_ATTEMPTS="1"):
        witness.at_rest(job_id)
    found = evidence_of(witness, job_id)

    assert (found.row.state, found.row.error_code) == (JobState.FAILED, "attempts_exhausted")
    assert found.outcomes == ("failed",)
    assert found.calls == Calls(requests=1)
    assert found.verbs == ["release", "reserve"]
    assert len(found.letters) == 1
