"""A brown-out on the deployed stack: all workers stop sending at once, no job pays for it, and it ends gently."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from onceward.domain.breaking import BreakerRule
from onceward.domain.states import JobState
from tests.scenarios.brown_out import FAILURES, arrivals, broken, fall_ill, heal, in_vain, sent
from tests.scenarios.conftest import TIMES
from tests.scenarios.models import ILL_MODEL
from tests.scenarios.operator import Operator
from tests.scenarios.stack import until
from tests.scenarios.witness import Calls, Witness, assert_books_agree
from tests.scenarios.worker_processes import kill, workers
from tests.support.deployed.terms import BROWN_OUT, TARIFF
from tests.support.model_server import ModelServer

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(900)]

PROBES = BreakerRule().successes
PAUSE = float(TIMES["breaker_pause_seconds"])
LONGEST_PAUSE, PROBE_EVERY = 10 * PAUSE, PAUSE / 6  # as the worker's world makes them of a stage's pause
CROWD = 7  # further jobs that come while it is open


def assert_sends_stopped_and_began_gently(model: ModelServer, jobs: int) -> None:
    """After the failures that open it nothing comes for the pause, after each failed probe for twice as long.

    And the probes that close it did not leave together: twice the step between three, but for their ways to here.
    """
    came, failed = arrivals(model), in_vain(model)
    silences = [later - earlier for earlier, later in pairwise(came[FAILURES - 1 : failed + 1])]
    first, *_, last = came[failed : failed + PROBES]

    assert len(came) == failed + jobs
    assert [(at, seconds) for at, seconds in enumerate(silences) if seconds < min(PAUSE * 2**at, LONGEST_PAUSE)] == []
    assert last - first >= PROBE_EVERY


def assert_each_made_the_attempts_it_paid_for(witness: Witness, ids: list[str]) -> None:
    """Succeeded, charged once, and not one attempt without a request at the model."""
    for job_id in ids:
        assert witness.at_rest(job_id).state is JobState.SUCCEEDED
        shown, calls = witness.shown(job_id), witness.calls(job_id)
        assert calls == Calls(requests=len(shown["attempts"]), computations=1), shown
        assert witness.amounts(job_id) == {"reserve": TARIFF, "capture": TARIFF}
    witness.quiet()
    assert_books_agree(witness.account)


def open_breakers(operator: Operator) -> str:
    """What the command tells of breakers that are open."""
    return operator.types("switch", "show").err


@pytest.mark.failure_mode("F83")
def test_a_brown_out_stops_all_workers_and_burns_no_attempt(
    witness: Witness, model: ModelServer, tmp_path: Path
) -> None:
    """Whatever the illness is like, those too that start meanwhile; another model is asked, the operator is told."""
    operator = Operator.of(witness.stack, tmp_path)
    fall_ill(model, drop="reset")
    fall_ill(model, drop=False, status=529, times=2)
    fall_ill(model, drop=False, status=503, times=2)
    ids = broken(witness)
    ids += [witness.created(BROWN_OUT, f"<comes later {number}>") for number in range(CROWD)]
    sent(witness, FAILURES + 1)
    until(lambda: ILL_MODEL in open_breakers(operator) or None, "the operator is told that it is open")
    restart(witness, ids)
    elsewhere = witness.created("test.ask", "Is anybody there?")
    assert witness.at_rest(elsewhere).state is JobState.SUCCEEDED
    heal(model)

    assert_each_made_the_attempts_it_paid_for(witness, ids)
    assert_sends_stopped_and_began_gently(model, len(ids))
    assert witness.calls(elsewhere) == Calls(requests=1, computations=1)
    assert open_breakers(operator) == ""


def restart(witness: Witness, ids: list[str]) -> None:
    """End all workers while none of them has any of these jobs: what they know of the breaker is gone with them."""
    with witness.stack.queue_closed():
        until(lambda: witness.visible() >= len(ids) or None, "every message is back in the queue")
        for pid in workers(witness.stack):
            kill(pid)
