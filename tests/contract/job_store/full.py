"""A job whose every field is set, as no real one ever is: what a store keeps of it, it keeps of all."""

from __future__ import annotations

from typing import Any

from onceward.domain.job import AnswerRef, EarlierSend, Job, OpenCall, PresentAttempt, ResultRef
from onceward.domain.money import Cost
from onceward.domain.names import DownstreamKey, JobId, StepKey
from onceward.domain.states import AttemptOutcome, CallState, JobState, ProviderCancel, WaitingFor
from tests.support.builders import JOB_ID, NOW, TOKEN, a_job, an_open_call, seconds

STEPS = tuple(StepKey(f"{step}/1") for step in ("classify", "extract", "summary", "verify", "write"))

EARLIER = EarlierSend(
    epoch=1, attempt=3, sent_at=NOW - seconds(60), max_cost=1_000, is_booked=True, promised="0123abcd"
)


def a_full_job(**fields: Any) -> Job:
    """Three open calls, five accepted steps, in review, cancelled and ended: everything at once."""
    every: dict[str, Any] = {
        "created_by": "9f1c2d3e-4b5a-6978-8a9b-0c1d2e3f4a5b",
        "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "seq": 41,
        "state": JobState.NEEDS_REVIEW,
        "waiting_for": WaitingFor.PROVIDER,
        "wake_at": NOW + seconds(61),
        "due": NOW + seconds(91),
        "review_until": NOW + seconds(3_600),
        "epoch": 2,
        "attempts": 3,
        "lost": 1,
        "run_token": TOKEN,
        "lease_until": NOW + seconds(60),
        "attempt": PresentAttempt(
            started_at=NOW - seconds(5),
            ended_at=NOW,
            outcome=AttemptOutcome.INTERRUPTED,
            error_class="outcome_unknown",
            error_code="read_timeout",
            decision="outcome unknown",
            cost=Cost(low=12_345, high=45_678, unpriced=True),
            run="0123abcd",
        ),
        "open": (_unknown(STEPS[0], repeats=EARLIER), _unknown(STEPS[1]), _unknown(STEPS[2])),
        "accepted": {step: AnswerRef(epoch=2, attempt=number) for number, step in enumerate(STEPS, start=1)},
        "spent": Cost(low=123_456, high=234_567),
        "reserved_micro_usd": 5_000,
        "charge_micro_usd": 5_000,
        "cancel_requested_at": NOW - seconds(2),
        "cancelled_at": NOW - seconds(1),
        "provider_cancel": ProviderCancel.REQUESTED,
        "result": ResultRef(epoch=2, attempt=3, step=STEPS[4]),
        "error_code": "attempts_exhausted",
        "finished_at": NOW,
        "erased_at": NOW + seconds(1),
        "flight": JobId("FLIGHTABCDEFGHIJKLMNOPQRST-ABCDEFGH"),
    }
    return a_job(**{**every, **fields})


def _unknown(step: StepKey, **fields: Any) -> OpenCall:
    return an_open_call(step=step, key=_key(step), epoch=2, state=CallState.UNKNOWN, **fields)


def _key(step: StepKey) -> DownstreamKey:
    return DownstreamKey(f"{JOB_ID}-1-{step.replace('/', '_')}")
