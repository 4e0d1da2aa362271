"""A brown-out on the deployed stack: all workers stop sending at once, no job pays for it, and it ends gently."""

from __future__ import annotations

from pathlib import Path

import pytest

from onceward.domain.breaking import BreakerRule
from onceward.domain.states import JobState
from tests.scenarios.brown_out import FAILURES, arrivals, broken, fall_ill, gaps, heal, sent
from tests.scenarios.conftest import TIMES
from tests.scenarios.models import ILL_MODEL
from tests.scenarios.operator import Operator
from tests.scenarios.stack import until
from tests.scenarios.witness import Calls, Witness, assert_books_agree
from tests.scenarios.worker_processes import kill, workers
from tests.support.deployed.terms import BROWN_OUT, TARIFF
from tests.support.model_server import ModelServer

PROBES = BreakerRule().successes
PAUSE = float(TIMES["breaker_pause_seconds"])
PROBE_EVERY = PAUSE / 6
CROWD = 7  # further jobs that come while it is open


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


def test_a_brown_out_stops_sends_and_ends_by_probes(witness: Witness, model: ModelServer, tmp_path: Path) -> None:
    """Five failures, then nothing for the pause though all jobs knock; three probes one after the other close it."""
    operator = Operator.of(witness.stack, tmp_path)
    fall_ill(model, status=503)
    ids = broken(witness)
    until(lambda: ILL_MODEL in open_breakers(operator) or None, "the operator is told that it is open")
    heal(model)
    assert_each_made_the_attempts_it_paid_for(witness, ids)

    assert open_breakers(operator) == ""
    assert len(arrivals(model)) == 2 * FAILURES
    assert gaps(model)[FAILURES - 1] >= PAUSE
    assert_half_open_gently(model, after=FAILURES)


def assert_half_open_gently(model: ModelServer, *, after: int) -> None:
    """The probes that closed it did not leave together: twice the step between three, but for their ways to here."""
    first, *_, last = arrivals(model)[after : after + PROBES]

    assert last - first >= PROBE_EVERY


@pytest.mark.thorough
@pytest.mark.timeout(900)
def test_workers_that_start_during_a_brown_out_send_nothing_either(witness: Witness, model: ModelServer) -> None:
    """Whatever the illness is like; another model is asked meanwhile, and a probe that fails doubles the pause."""
    fall_ill(model, drop="reset")
    fall_ill(model, drop=False, status=529, times=2)
    fall_ill(model, drop=False, status=503, times=2)
    ids = broken(witness)
    ids += [witness.created(BROWN_OUT, f"<comes later {number}>") for number in range(CROWD)]
    sent(witness, FAILURES + 1)
    heal(model)
    restart(witness, ids)
    elsewhere = witness.created("test.ask", "Is anybody there?")
    assert witness.at_rest(elsewhere).state is JobState.SUCCEEDED
    assert_each_made_the_attempts_it_paid_for(witness, ids)

    assert witness.calls(elsewhere) == Calls(requests=1, computations=1)
    assert len(arrivals(model)) == FAILURES + 1 + len(ids)
    opened, reopened = gaps(model)[FAILURES - 1 : FAILURES + 1]
    assert opened >= PAUSE
    assert reopened >= 2 * PAUSE
    assert_half_open_gently(model, after=FAILURES + 1)


def restart(witness: Witness, ids: list[str]) -> None:
    """End all workers while none of them holds a job: what they know of the breaker is gone with them."""
    with witness.stack.queue_closed():
        for job_id in ids:
            witness.when(job_id, lambda job: job.state is not JobState.RUNNING, "nobody holds it")
        for pid in workers(witness.stack):
            kill(pid)
