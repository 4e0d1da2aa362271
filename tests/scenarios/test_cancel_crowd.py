"""Cancels that come while a job is claimed, settled or retried, two hundred times each: one winner, and money right.

Who wins is the machine's to decide; that both sides do win is asserted, so that the rounds are races indeed. Both
writes of one row meet at every offset in ``tests/contract/test_cancel_races.py``; here the whole stack takes part.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from onceward.domain.states import JobState, WaitingFor
from tests.scenarios.lost_jobs import Evidence, evidence_of
from tests.scenarios.stack import until
from tests.scenarios.storm import beside, sweep
from tests.scenarios.witness import REST, Witness, assert_books_agree
from tests.scenarios.worker_settings import fed
from tests.support.model_server import ModelServer

pytestmark = [pytest.mark.soak, pytest.mark.timeout(900)]

ROUNDS = 200
ANSWER = 0.4  # seconds until the model answers, so that a cancel can come before it and after it
AT_ONCE = 4  # each holds a process of the API's function
PATIENCE = 300.0  # seconds, on however busy a machine

type Moment = Callable[[Witness, str], object]


def _at_once(_witness: Witness, _job_id: str) -> None:
    """Its message is on its way."""


def _model_has_it(witness: Witness, job_id: str) -> None:
    """The answer, its item and the settling come next; a job that is over already was faster."""
    until(
        lambda: witness.calls(job_id).requests or witness.row(job_id).state in REST or None,
        f"{job_id} is sent",
        PATIENCE,
    )


def _it_waits(witness: Witness, job_id: str) -> None:
    """The provider was too busy for its first attempt, and its second one comes at any moment."""
    seen = lambda job: job.waiting_for is WaitingFor.RETRY or job.attempts > 1 or job.state in REST  # noqa: E731
    witness.when(job_id, seen, "it waits for its retry", patience=PATIENCE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """When the cancel is sent: so many seconds at most after a moment; and whether its first call is refused."""

    after: Moment
    spread: float
    is_refused: bool = False


RACES = {
    "claim": Race(after=_at_once, spread=0.4),
    "settle": Race(after=_model_has_it, spread=0.8),
    "retry": Race(after=_it_waits, spread=4.0, is_refused=True),
}


def _round(witness: Witness, race: str, number: int) -> tuple[str, str]:
    """Create a job, cancel it at its moment; its id, and what the API said of the cancel."""
    rules, chance = RACES[race], random.Random(number)
    prompt = f"<{race} {number}>"
    if rules.is_refused:
        witness.stack.model.behave(text=prompt, status=429, headers={"retry-after": "0"}, times=1)
    job_id = witness.created("test.ask", prompt)
    rules.after(witness, job_id)
    time.sleep(chance.uniform(0, rules.spread))  # not for something to come true: to meet the rival at every offset
    return job_id, str(witness.cancel(job_id)["status"])


def _assert_one_winner(found: Evidence, answered: str) -> None:
    """Cancelled and free of charge, or succeeded and charged once; never both, and asked for once at most."""
    is_cancelled = found.row.state is JobState.CANCELLED

    assert is_cancelled or found.row.state is JobState.SUCCEEDED, found.shown
    assert answered != "cancelled" or is_cancelled, "a cancel that was answered as done stands"
    assert answered != "succeeded" or not is_cancelled
    assert found.verbs == (["release", "reserve"] if is_cancelled else ["capture", "reserve"])
    assert found.calls.computations <= 1
    assert found.letters == []


@pytest.mark.parametrize("race", RACES)
def test_a_cancel_and_its_rival_have_one_winner(
    witness: Witness, model: ModelServer, race: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two hundred rounds; the sweeper comes by as it does on AWS."""
    model.behave(delay_s=ANSWER)
    with fed(witness.stack, processes=2), beside(sweep(witness.stack)), ThreadPoolExecutor(AT_ONCE) as pool:
        rounds = list(pool.map(lambda number: _round(witness, race, number), range(ROUNDS)))
        for job_id, _ in rounds:
            witness.at_rest(job_id, patience=PATIENCE)
        witness.stack.lose_messages()  # of jobs that were cancelled while they waited
    found = [(evidence_of(witness, job_id), answered) for job_id, answered in rounds]
    ends = Counter(str(one.row.state) for one, _ in found)
    with capsys.disabled():
        print(f"\n  cancel against {race}: {dict(ends)}")

    for one, answered in found:
        _assert_one_winner(one, answered)
    assert len(ends) == 2, "one side won every round: no race"
    assert_books_agree(witness.account)
