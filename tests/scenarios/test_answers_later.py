"""Answers that come later, deployed: submitted and polled without a Lambda that waits, by each API that can."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from onceward.domain.job import Job
from onceward.domain.states import JobState, WaitingFor
from onceward.local.model import STAND_IN_MODEL
from tests.scenarios.stack import until
from tests.scenarios.witness import Calls, Witness
from tests.scenarios.worker_settings import told
from tests.support.model_server import ModelServer

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(900)]

BATCH, BACKGROUND, MESSAGES = "test.ask", "test.patient", "text.generate"  # which kind is answered how
ANSWERED = Calls(requests=1, computations=1)


@pytest.fixture(scope="module", autouse=True)
def later(witness: Witness) -> Iterator[None]:
    """Each kind by another API; the model server speaks them all."""
    target = {"url": witness.stack.model.base_url, "name": STAND_IN_MODEL}
    models = {
        BATCH: {**target, "api": "openai", "answers": "batch"},
        BACKGROUND: {**target, "api": "openai", "answers": "later"},
        MESSAGES: {**target, "api": "anthropic", "answers": "later"},
    }
    with told(witness, ONCEWARD_MODEL_BY_KIND=json.dumps(models)):
        yield


def waits(witness: Witness, job_id: str, reason: WaitingFor) -> Job:
    """A job's row once it waits for that."""
    return witness.when(job_id, lambda job: job.waiting_for is reason, f"it waits for {reason}")


def test_each_is_answered_in_the_attempt_that_asked(witness: Witness, model: ModelServer) -> None:
    """Bought once, by the price of its way; what was asked and answered is kept here and not there."""
    model.behave(hold="work")
    prompt = "What is a lease, and who holds it?"
    ids = {kind: witness.created(kind, prompt) for kind in (BATCH, BACKGROUND, MESSAGES)}
    for job_id in ids.values():
        waits(witness, job_id, WaitingFor.PROVIDER)
    model.release("work")
    shown = {kind: (witness.at_rest(job_id), witness.shown(job_id))[1] for kind, job_id in ids.items()}
    costs = {kind: job["provider_cost"]["exact_micro_usd"] for kind, job in shown.items()}

    assert {job["status"] for job in shown.values()} == {"succeeded"}, shown
    assert {len(job["attempts"]) for job in shown.values()} == {1}
    assert {witness.calls(job_id) for job_id in ids.values()} == {ANSWERED}
    assert costs[BATCH] == -(-costs[BACKGROUND] // 2)
    assert costs[MESSAGES] > 0
    until(lambda: model.later_counts()["files"] == 0 or None, "the batch's files are deleted")
    assert model.later_counts()["works"] == 1  # a batch itself cannot be deleted there


def test_cancel_reaches_the_provider_and_says_what_it_said(witness: Witness, model: ModelServer) -> None:
    """A batch is told, and says that it is stopping; a response, that it has stopped."""
    model.behave(hold="work")
    ids = {kind: witness.created(kind, "Cancel me.") for kind in (BATCH, BACKGROUND)}
    for job_id in ids.values():
        waits(witness, job_id, WaitingFor.PROVIDER)
        witness.cancel(job_id)
    ended = {kind: witness.at_rest(job_id).state for kind, job_id in ids.items()}
    said = {kind: witness.shown(job_id)["cancel"]["provider"] for kind, job_id in ids.items()}

    assert set(ended.values()) == {JobState.CANCELLED}
    assert said == {BATCH: "requested", BACKGROUND: "confirmed"}
    assert model.later_counts()["cancelled"] == 2


def test_lost_submission_is_found_and_bought_once(witness: Witness, model: ModelServer) -> None:
    """By the batch's metadata, while it is under way; then it is polled like any other. Its waiting is cut short."""
    model.behave(hold="work")
    model.later(lose=1)
    job_id = witness.created(BATCH, "Lose the answer to this submission.")
    row = waits(witness, job_id, WaitingFor.LOOKUP)
    witness.stack.lose_messages()
    past = datetime.now(UTC) - timedelta(seconds=1)
    witness.overwrite(replace(row, wake_at=past, due=past))
    witness.stack.sweep()
    waits(witness, job_id, WaitingFor.PROVIDER)
    model.release("work")
    row = witness.at_rest(job_id)

    assert (row.state, row.attempts) == (JobState.SUCCEEDED, 1)
    assert witness.calls(job_id) == ANSWERED
