"""The protocol's durations, chosen per stage; every rule that compares instants takes them from here."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

SHORT_WAIT = timedelta(minutes=10)  # waits up to this stay in the message's visibility; longer ones in the row's due
JOB_LIFE = timedelta(days=90)  # created_at + this = expires_at: longer than SQS and its dead letters together (28 d)
MAX_JOB_DEADLINE = timedelta(days=7)
REVIEW_LIMIT = timedelta(days=30)
EXPIRY_MARGIN = timedelta(days=7)  # deadlines and reviews end this long before the row may vanish
MAX_LOST = 3  # a run lost this often is taken to kill its process: none of the kind's code runs again


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How long things are held, waited for and kept back.

    ``lease`` one claim or heartbeat; ``skew_allowance`` what two machines' clocks may differ by: a holder stops that
    much early, a thief waits that much longer; ``due_grace`` how long after an expected wake-up the sweeper steps in;
    ``send_window`` between the journal and the socket; ``settle_budget`` kept back from every attempt's deadline;
    ``infrastructure_backoff`` the first wait after an outage, doubled up to ``infrastructure_backoff_max``;
    ``review_limit`` how long a person has.
    """

    lease: timedelta = timedelta(seconds=60)
    heartbeat: timedelta = timedelta(seconds=20)
    skew_allowance: timedelta = timedelta(seconds=2)
    due_grace: timedelta = timedelta(seconds=30)
    send_window: timedelta = timedelta(seconds=10)
    settle_budget: timedelta = timedelta(seconds=10)
    infrastructure_backoff: timedelta = timedelta(seconds=30)
    infrastructure_backoff_max: timedelta = timedelta(seconds=300)
    review_limit: timedelta = REVIEW_LIMIT

    @property
    def lease_margin(self) -> timedelta:
        """The part of a lease in which nothing may be started any more: clock skew, and one beat that came late."""
        return self.skew_allowance + self.lease / 10
