"""A cancel in every phase of a job: before a worker has it, at each place of a run, and after the end.

All runs are at their places at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from onceward.domain.states import JobState, WaitingFor
from tests.scenarios.lost_jobs import Evidence, evidence_of
from tests.scenarios.stack import until
from tests.scenarios.witness import Calls, Witness, assert_books_agree
from tests.scenarios.worker_processes import go_on, has_reached
from tests.scenarios.worker_settings import fed
from tests.support.deployed.terms import kind_of

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(900)]  # many processes start, on however busy a machine

RELEASED, CAPTURED = ["release", "reserve"], ["capture", "reserve"]
WAITS = {"retry": WaitingFor.RETRY, "lookup": WaitingFor.LOOKUP}
PLACES = ("before_sent", "after_sent", "before_item", "after_item", "after_settle")


NOTHING_SENT = Calls()
REFUSED = Calls(requests=1)  # or dropped before the model worked
ANSWERED = Calls(requests=1, computations=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """What must come of a cancel there."""

    outcomes: tuple[str, ...] = ("cancelled",)
    calls: Calls = ANSWERED
    state: JobState = JobState.CANCELLED
    provider: str = "none"  # what the provider's own cancellation is said to be


PHASES = {
    "queued": Phase(outcomes=(), calls=NOTHING_SENT),
    "retry": Phase(outcomes=("failed",), calls=REFUSED),
    "before_sent": Phase(calls=NOTHING_SENT, provider="unsupported"),
    "after_sent": Phase(calls=NOTHING_SENT, provider="unsupported"),
    "in_model": Phase(outcomes=("unknown",), calls=REFUSED, provider="unsupported"),
    "before_item": Phase(provider="unsupported"),
    "after_item": Phase(provider="unsupported"),
    "after_settle": Phase(outcomes=("succeeded",), state=JobState.SUCCEEDED),
    "lookup": Phase(outcomes=("unknown",), calls=REFUSED, provider="unsupported"),
}


class Cancelled:
    """One job for each phase, brought there and cancelled."""

    def __init__(self, witness: Witness) -> None:
        """Create all but the one that stays in the queue; they come in one batch."""
        self._witness = witness
        self._model = witness.stack.model
        self._model.behave(text="<retry>", status=429, headers={"retry-after": "3600"})
        self._model.behave(text="<in_model>", hold="model")
        self._model.behave(text="<lookup>", drop="reset")
        with witness.stack.queue_closed():
            self.ids = {place: witness.created("test.ask", f"<{place}> [[stop {place}]]") for place in PLACES}
            self.ids["in_model"] = witness.created("test.patient", "<in_model>")
            self.ids["retry"] = witness.created("test.ask", "<retry>")
            self.ids["lookup"] = witness.created(kind_of("test.patient", "lookup"), "<lookup>")
        for place in PLACES:
            until(lambda at=place: has_reached(witness.stack, self.ids[at]) or None, f"a job is {place}")  # type: ignore[misc]
        self._model.wait_for(held=1)

    def cancel(self) -> None:
        """Cancel each in its phase; those that run hear of it with their next heartbeats."""
        witness = self._witness
        for phase, reason in WAITS.items():
            witness.when(self.ids[phase], lambda job, r=reason: job.waiting_for is r, f"it waits for {phase}")
            witness.cancel(self.ids[phase])
        for phase in (*PLACES, "in_model"):
            witness.cancel(self.ids[phase])
        for place in PLACES:
            self._hear(place)
            go_on(witness.stack, self.ids[place])
        with witness.stack.queue_closed():
            self.ids["queued"] = witness.created("test.ask", "<queued>")
            assert witness.cancel(self.ids["queued"])["status"] == "cancelled"

    def _hear(self, place: str) -> None:
        """Wait for two beats, the first of which may have left before the cancel."""
        for _ in range(2):
            row = self._witness.row(self.ids[place])
            if row.state is JobState.RUNNING:
                seen = row.lease_until
                self._witness.when(self.ids[place], lambda job, s=seen: job.lease_until != s, "it has beaten")

    def at_rest(self) -> dict[str, Evidence]:
        """All evidence, once every job has ended and no message is left."""
        for job_id in self.ids.values():
            self._witness.at_rest(job_id)
        self._model.release()
        self._witness.stack.lose_messages()  # that of the lookup is hidden until it would have been conclusive
        self._witness.quiet()
        return {phase: evidence_of(self._witness, job_id) for phase, job_id in self.ids.items()}


@pytest.fixture(scope="module")
def cancelled(witness: Witness) -> Iterator[dict[str, Evidence]]:
    """What was found of each phase's job."""
    witness.stack.model.reset()
    with fed(witness.stack, processes=2):
        jobs = Cancelled(witness)
        jobs.cancel()
        yield jobs.at_rest()
    witness.stack.model.reset()


@pytest.mark.parametrize("phase", PHASES)
def test_cancel_ends_a_job_in_every_phase(cancelled: dict[str, Evidence], phase: str) -> None:
    """State, attempts, what the model saw, the two facts of a cancellation, and the money: free, or charged already."""
    found, wanted = cancelled[phase], PHASES[phase]

    assert found.row.state is wanted.state, found.shown
    assert found.outcomes == wanted.outcomes
    assert found.calls == wanted.calls
    assert found.letters == []
    assert found.verbs == (CAPTURED if wanted.state is JobState.SUCCEEDED else RELEASED)
    if wanted.state is JobState.CANCELLED:
        assert found.shown["cancel"]["cancelled_at"] is not None
        assert found.shown["cancel"]["provider"] == wanted.provider


def test_cost_of_a_dropped_call_is_bounded_and_that_of_an_answer_exact(cancelled: dict[str, Evidence]) -> None:
    """A cancel hides no money: what may have been spent has bounds, what was spent is a number."""
    dropped = cancelled["in_model"].shown["provider_cost"]
    answered = cancelled["after_item"].shown["provider_cost"]

    assert (dropped["low_micro_usd"], dropped["exact_micro_usd"]) == (0, None)
    assert 0 < answered["exact_micro_usd"] <= dropped["high_micro_usd"]  # a question alike, asked to the end
    assert cancelled["queued"].shown["provider_cost"]["exact_micro_usd"] == 0


def test_books_agree_after_cancels(cancelled: dict[str, Evidence], witness: Witness) -> None:
    """Nothing is held for a job that has ended: what was reserved for it was moved once."""
    assert all(len(found.verbs) == 2 for found in cancelled.values())
    assert_books_agree(witness.account)
