"""The conditions of flights, both ways; among ``CASES`` like all others."""

from __future__ import annotations

from typing import Any, Final

from onceward.domain.conditions import Condition, HasParticipants, InFlight, IsJoinable
from onceward.domain.job import Job
from onceward.domain.names import JobId
from onceward.domain.states import JobState, WaitingFor
from tests.support.builders import NOW, a_job, seconds

FLIGHT = JobId("FLIGHTABCDEFGHIJKLMNOPQRST-ABCDEFGH")
OTHER_FLIGHT = JobId("GLIGHTABCDEFGHIJKLMNOPQRST-ABCDEFGH")
ENDED = (JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED, JobState.NEEDS_REVIEW)

type Told = tuple[str, Condition, Job, bool]


def _flight(**fields: Any) -> Job:
    return a_job(**{"participants": 2, **fields})


def _waits(**fields: Any) -> Job:
    return a_job(**{"state": JobState.WAITING, "waiting_for": WaitingFor.FLIGHT, "flight": FLIGHT, **fields})


TOLD: Final[tuple[Told, ...]] = (
    ("queued flight with room", IsJoinable(3), _flight(), True),
    ("running flight with room", IsJoinable(3), _flight(state=JobState.RUNNING), True),
    ("waiting flight with room", IsJoinable(3), _flight(state=JobState.WAITING), True),
    ("flight without participants", IsJoinable(1), _flight(participants=0), True),
    ("full flight", IsJoinable(2), _flight(), False),
    ("no flight at all", IsJoinable(3), a_job(), False),
    *((f"flight that is {state}", IsJoinable(3), _flight(state=state), False) for state in ENDED),
    ("flight looked at in review", IsJoinable(3), _flight(state=JobState.RUNNING, review_until=NOW), False),
    ("flight that somebody waits for", HasParticipants(), _flight(participants=1), True),
    ("flight that nobody waits for", HasParticipants(), _flight(participants=0), False),
    ("a job is no flight", HasParticipants(), a_job(), False),
    ("waits for this flight", InFlight(FLIGHT), _waits(), True),
    ("in review with this flight", InFlight(FLIGHT), _waits(state=JobState.NEEDS_REVIEW, waiting_for=None), True),
    ("waits for another flight", InFlight(FLIGHT), _waits(flight=OTHER_FLIGHT), False),
    ("runs for this flight", InFlight(FLIGHT), _waits(state=JobState.RUNNING), False),
    ("served by this flight", InFlight(FLIGHT), _waits(state=JobState.SUCCEEDED), False),
    ("waits for a retry", InFlight(FLIGHT), _waits(waiting_for=WaitingFor.RETRY, wake_at=NOW + seconds(1)), False),
    ("waits for no flight", InFlight(FLIGHT), a_job(), False),
)
