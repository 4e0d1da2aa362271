"""The Python SDK: submit a job once, wait for it, and be told honestly how it ended.

``Onceward`` blocks, ``AsyncOnceward`` awaits; both do the same. Needs the extra ``onceward[client]`` and nothing of a
server.
"""

from onceward.client.answers import Job
from onceward.client.async_onceward import AsyncOnceward
from onceward.client.exceptions import (
    ActionCancelled,
    ActionFailed,
    ActionParked,
    ActionUnfinished,
    ApiError,
    ClientError,
    ConnectionFailed,
    JobCancelled,
    JobFailed,
    JobNotSucceeded,
    Misconfigured,
    OutcomeUnknown,
    UploadRefused,
    WaitTimeout,
)
from onceward.client.onceward import Onceward
from onceward.client.results import is_settled, result_of
from onceward.wire.action_views import ActionAnswer, ActionList, ActionView
from onceward.wire.history import JobHistory
from onceward.wire.responses import AccountView, JobAccepted, JobList, JobView
from onceward.wire.reviews import ReviewList, ReviewResolved, ReviewView

__all__ = [
    "AccountView",
    "ActionAnswer",
    "ActionCancelled",
    "ActionFailed",
    "ActionList",
    "ActionParked",
    "ActionUnfinished",
    "ActionView",
    "ApiError",
    "AsyncOnceward",
    "ClientError",
    "ConnectionFailed",
    "Job",
    "JobAccepted",
    "JobCancelled",
    "JobFailed",
    "JobHistory",
    "JobList",
    "JobNotSucceeded",
    "JobView",
    "Misconfigured",
    "Onceward",
    "OutcomeUnknown",
    "ReviewList",
    "ReviewResolved",
    "ReviewView",
    "UploadRefused",
    "WaitTimeout",
    "is_settled",
    "result_of",
]
