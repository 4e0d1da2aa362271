"""The thread itself, on the deployed stack, witnessed by the tables and by the model server's own count."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.scenarios.stack import DeployedStack, until
from tests.support.model_server import ModelServer

CREATES = 50
BATCH = 10
LEASE_SECONDS = 3  # of this stack


def test_prompt_goes_in_and_one_answer_comes_out(stack: DeployedStack, model: ModelServer) -> None:
    """One job, one attempt, one call, a result, the provider's cost and the user's charge."""
    job_id = stack.created("text.generate", {"prompt": "The sea is deep. What is the sea?"}, key="first")
    job = stack.ended(job_id)

    assert job["status"] == "succeeded", job
    assert [attempt["outcome"] for attempt in job["attempts"]] == ["succeeded"]
    assert model.counts()["requests"] == 1
    assert "sea" in job["result"]["text"]
    assert job["provider_cost"]["exact_micro_usd"] > 0
    assert job["charge_micro_usd"] > 0


@pytest.mark.thorough  # fifty processes of the API take a minute of both cores, and whatever else runs fails beside it
def test_fifty_creates_with_one_key_are_one_job_and_one_call(stack: DeployedStack, model: ModelServer) -> None:
    """Invariant 8: one row, one id for all fifty, one call."""
    model.behave(hold="warming", text="Warm up.")
    stack.warm(stack.created("text.generate", {"prompt": "Warm up."}, key="warm"), CREATES)
    model.reset()
    with ThreadPoolExecutor(CREATES) as pool:
        wishes = [
            pool.submit(stack.create, "text.generate", {"prompt": "One of fifty."}, key="fifty") for _ in range(CREATES)
        ]
        answers = [wish.result() for wish in wishes]
    ids = {answer.json()["job_id"] for answer in answers}

    assert len(ids) == 1
    assert {answer.status_code for answer in answers} <= {200, 202}
    assert sum("idempotent-replayed" not in answer.headers for answer in answers) == 1
    assert stack.ended(ids.pop())["status"] == "succeeded"
    assert model.counts()["requests"] == 1


def test_worker_killed_before_sent_costs_one_attempt_and_no_call(stack: DeployedStack, model: ModelServer) -> None:
    """ID-09: the lease runs out, the message comes back by its visibility alone, the second attempt calls once."""
    job_id = stack.created("test.ask", {"prompt": "Say it. [[kill before_sent]]"}, key="killed-before-sent")
    job = stack.ended(job_id)

    assert job["status"] == "succeeded", job
    assert [attempt["outcome"] for attempt in job["attempts"]] == ["interrupted", "succeeded"]
    assert model.counts()["requests"] == 1


def test_jobs_of_one_batch_wait_together(stack: DeployedStack, model: ModelServer) -> None:
    """Ten jobs of one invocation are at the model at once: ten slow answers cost one wait."""
    model.behave(hold="batch")
    with stack.queue_closed():
        prompts = [f"Sentence number {number}." for number in range(BATCH)]
        ids = [stack.created("text.generate", {"prompt": prompt}, key=f"batch {prompt}") for prompt in prompts]
    counts = model.wait_for(held=BATCH)
    before = stack.invocations("WorkerFunction")
    model.release()
    ended = [stack.ended(job_id) for job_id in ids]

    assert counts["peak"] == BATCH
    assert {job["status"] for job in ended} == {"succeeded"}
    # Logs appear when an invocation ends: all ten were waited for by the one that ends now.
    until(lambda: stack.invocations("WorkerFunction") > before or None, "it is logged")
    assert stack.invocations("WorkerFunction") == before + 1


@pytest.mark.failure_mode("F35")
def test_busy_event_loop_does_not_starve_the_heartbeat(stack: DeployedStack) -> None:
    """A kind that burns the CPU for three leases keeps its job: one attempt, and nobody took it over."""
    job_id = stack.created("test.burn", {"burn_seconds": 3.2 * LEASE_SECONDS}, key="burn")
    job = stack.ended(job_id)

    assert job["status"] == "succeeded", job
    assert [attempt["outcome"] for attempt in job["attempts"]] == ["succeeded"]
    transitions = int(stack.row(job_id)["n"]["N"])  # created, claimed, settled
    assert transitions == 3


@pytest.mark.failure_mode("F55")
def test_lost_message_is_sent_again_by_the_sweeper(stack: DeployedStack, model: ModelServer) -> None:
    """The row is due, whatever became of its message: the sweeper's pass wakes it."""
    with stack.queue_closed():
        job_id = stack.created("text.generate", {"prompt": "Nobody was told."}, key="lost message")
        stack.lose_messages()
    assert stack.get(job_id)["status"] == "queued"

    until(lambda: stack.sweep().get("wake"), "the row is due and was woken")
    assert stack.ended(job_id)["status"] == "succeeded"
    assert model.counts()["requests"] == 1


def test_exhausted_job_is_a_dead_letter(stack: DeployedStack, model: ModelServer) -> None:
    """Two refusals of two attempts: failed, and one letter that names job, epoch and reason, nothing else."""
    model.behave(status=429, text="Refuse me.")
    job_id = stack.created("test.ask", {"prompt": "Refuse me."}, key="exhausted")
    job = stack.ended(job_id)

    assert (job["status"], job["error"]["code"]) == ("failed", "attempts_exhausted")
    letter = until(lambda: stack.letter_of(job_id), "its dead letter is there")
    assert letter == {
        "schema_version": 1,
        "tenant_id": "acme",
        "job_id": job_id,
        "epoch": 1,
        "reason": "attempts_exhausted",
    }
