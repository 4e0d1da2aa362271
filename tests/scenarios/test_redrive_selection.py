"""A redrive of some dead letters on the deployed stack: told first, then moved; nobody else's model is asked again."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from onceward.domain.names import TenantId
from onceward.domain.states import JobState
from tests.scenarios.operator import Operator
from tests.scenarios.stack import DeployedStack, until
from tests.scenarios.witness import Calls, Witness
from tests.support.deployed.terms import MAX_ATTEMPTS
from tests.support.model_server import ModelServer

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(900)]

TENANTS = TenantId("umbrella"), TenantId("hooli")
REFUSED = Calls(requests=MAX_ATTEMPTS)
SUCCEEDED = Calls(requests=MAX_ATTEMPTS + 1, computations=1)
UNHEARD = Calls(requests=1, computations=1)

# What a dry run says of each selection: letters, jobs that would be opened again, and those that a person must decide.
SELECTIONS: Mapping[tuple[str, ...], tuple[int, int, int]] = {
    ("--all",): (4, 3, 1),
    ("--kind", "test.ask"): (3, 2, 1),
    ("--kind", "test.ask_again"): (1, 1, 0),
    ("--kind", "text.generate"): (0, 0, 0),
    ("--tenant", "hooli"): (1, 1, 0),
    ("--tenant", "umbrella", "--kind", "test.ask"): (2, 1, 1),
    ("--reason", "attempts_exhausted"): (3, 3, 0),
    ("--reason", "needs_review"): (1, 0, 1),
    ("--older-than", "1h"): (0, 0, 0),
    ("--younger-than", "1h"): (4, 3, 1),
    ("--older-than", "0s", "--tenant", "hooli"): (1, 1, 0),
}


@pytest.fixture
def letters(stack: DeployedStack, model: ModelServer) -> dict[str, tuple[Witness, str]]:
    """Four jobs with a letter each, and nothing else among the dead letters: three exhausted ones, and a review."""
    mine, theirs = (Witness(stack=stack, tenant=tenant) for tenant in TENANTS)
    model.behave(text="<exhausted", status=429, times=3 * MAX_ATTEMPTS)
    model.behave(text="<unknown>", drop="reset", stage="after", times=1)
    stack.sqs.purge_queue(QueueUrl=stack.outputs["DeadLettersQueueUrl"])
    made = {
        "mine": (mine, mine.created("test.ask", "<exhausted>")),
        "of another kind": (mine, mine.created("test.ask_again", "<exhausted otherwise>")),
        "theirs": (theirs, theirs.created("test.ask", "<exhausted elsewhere>")),
        "in review": (mine, mine.created("test.ask", "<unknown>")),
    }
    for witness, job_id in made.values():
        until(partial(stack.letter_of, job_id), "its letter is there")
        witness.when(job_id, lambda job: job.due is None or job.state is JobState.NEEDS_REVIEW, "it is told")
    return made


def redriven(operator: Operator, *words: str) -> dict[str, Any]:
    """What a redrive tells."""
    (told,) = operator.told("dlq", "redrive", *words, "--json")
    return told


def foretold(operator: Operator, *words: str) -> tuple[int, int, int]:
    """What a dry run says, in short."""
    told = redriven(operator, *words)
    assert told["is_dry_run"]
    return told["selected"], told["would_reopen"], sum(told["refused"].values())


def test_a_redrive_opens_what_was_selected_and_nothing_else(
    stack: DeployedStack, letters: dict[str, tuple[Witness, str]], tmp_path: Path
) -> None:
    """By kind, tenant, reason and age; a dry run changes nothing; a review is refused; what moved on is pruned."""
    operator = Operator.of(stack, tmp_path)
    dry = {words: foretold(operator, *words) for words in SELECTIONS}
    before = {name: witness.calls(job_id) for name, (witness, job_id) in letters.items()}
    first = redriven(operator, "--kind", "test.ask_again", "--yes")
    second = redriven(operator, "--tenant", "hooli", "--reason", "attempts_exhausted", "--yes", "--rate", "5")
    for name in ("of another kind", "theirs"):
        witness, job_id = letters[name]
        witness.when(job_id, lambda job: job.state is JobState.SUCCEEDED, "it has succeeded")
    after = {name: witness.calls(job_id) for name, (witness, job_id) in letters.items()}
    third = redriven(operator, "--all", "--yes")
    witness, unknown = letters["in review"]
    witness.cancel(unknown)
    witness.when(unknown, lambda job: job.state is JobState.CANCELLED, "it has been cancelled")
    (pruned,) = operator.told("dlq", "prune", "--yes", "--json")

    assert dry == SELECTIONS
    assert before == {"mine": REFUSED, "of another kind": REFUSED, "theirs": REFUSED, "in review": UNHEARD}
    assert after == {"mine": REFUSED, "of another kind": SUCCEEDED, "theirs": SUCCEEDED, "in review": UNHEARD}
    assert [(told["selected"], told["reopened"]) for told in (first, second, third)] == [(1, 1), (1, 1), (2, 1)]
    assert third["refused"] == {"in_review": 1}
    assert pruned["removed"] == 1
    assert witness.calls(unknown) == UNHEARD
    witness.quiet()
    assert operator.told("dlq", "list", "--json") == []
