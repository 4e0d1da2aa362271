"""What the SDK raises: one tree, so that a caller catches as much or as little as it can act on.

::

    OncewardError
    └── ClientError                  anything below
        ├── Misconfigured            no address or no token; nothing was sent
        ├── ApiError                 the API or the bucket answered, but not what was asked for
        │   └── UploadRefused        the bucket did not take the document
        ├── ConnectionFailed         no answer after all tries; the request may have arrived
        ├── ActionFailed             the action failed, for good (``action``)
        │   └── ActionCancelled      it was cancelled
        ├── ActionParked             nobody knows whether the action was done; a person decides (``action``)
        ├── ActionUnfinished         the time is over and the action goes on
        └── JobNotSucceeded          the job is known, and it has no result (``job``)
            ├── WaitTimeout          not yet: it goes on
            ├── JobFailed            it failed, for good
            ├── JobCancelled         it was cancelled
            └── OutcomeUnknown       it needs a person's review; it may have cost something

A bad document or idempotency key is told by Onceward's own ``TooLarge``, ``InvalidInput`` (it is empty) and
``MalformedKey`` before anything is sent.
No message holds content or a token.
"""

from __future__ import annotations

from datetime import timedelta

from onceward.errors import OncewardError
from onceward.wire.action_views import ActionAnswer
from onceward.wire.problem import Problem
from onceward.wire.responses import JobError, JobView


class ClientError(OncewardError):
    """Anything the SDK raises; ``idempotency_key`` is the submission's, to ask with once more, where there was one."""

    code = "client_error"
    idempotency_key: str | None = None


class Misconfigured(ClientError):
    """The SDK does not know where the API is or as whom to ask."""

    code = "misconfigured"


class ApiError(ClientError):
    """An answer other than the one asked for: by our API, its gateway or the bucket.

    ``code`` is stable and for programs; ``problem`` is whole if our API answered; ``retry_after`` is what it asked for.
    """

    code = "api_error"

    def __init__(
        self,
        detail: str,
        *,
        status: int,
        code: str,
        problem: Problem | None = None,
        request_id: str | None = None,
        retry_after: timedelta | None = None,
    ) -> None:
        """Keep what was answered."""
        super().__init__(detail, code=code)
        self.status = status
        self.problem = problem
        self.request_id = request_id
        self.retry_after = retry_after

    def __str__(self) -> str:
        """Status and code, why, where, and the id to ask the operator about."""
        why = f": {self.detail}" if self.detail else ""
        faults = self.problem.errors if self.problem else ()
        where = "".join(f"; {fault.pointer or 'the body'}: {fault.detail}" for fault in faults)
        asked = f" (request {self.request_id})" if self.request_id else ""
        return f"{self.status} {self.code}{why}{where}{asked}"


class UploadRefused(ApiError):
    """The bucket did not take the document; ``code`` is its own word, as ``EntityTooLarge``."""

    code = "upload_refused"


class ConnectionFailed(ClientError):
    """Nothing came back after all tries. The request may have arrived: ask again with the same key."""

    code = "connection_failed"


class JobNotSucceeded(ClientError):
    """The job is known and has no result; ``job`` is how it was last seen."""

    code = "job_not_succeeded"

    def __init__(self, job: JobView) -> None:
        """Keep the job; say how it stands."""
        super().__init__(f"job {job.job_id} {self._standing(job)}")
        self.job = job

    def _standing(self, job: JobView) -> str:
        """How the job stands, in words."""
        return f"is {job.status}"


def reason_of(error: JobError | None) -> str:
    """Why a job failed, in a line: its code, and the code's sentence where it has one."""
    if error is None:
        return "without a reason"
    return f"{error.code}: {error.message}" if error.message else error.code


class WaitTimeout(JobNotSucceeded):
    """The wait is over and the job is not. It goes on; wait again, or cancel it."""

    code = "wait_timeout"

    def _standing(self, job: JobView) -> str:
        return f"is {job.status} and goes on"


class JobFailed(JobNotSucceeded):
    """The job failed for good; ``job.error`` says why, by its ``code`` and its ``message``."""

    code = "job_failed"

    def _standing(self, job: JobView) -> str:
        return f"failed: {reason_of(job.error)}"


class JobCancelled(JobNotSucceeded):
    """The job was cancelled."""

    code = "job_cancelled"


class OutcomeUnknown(JobNotSucceeded):
    """A call's outcome is unknown and the job's policy forbids to guess; a person decides."""

    code = "outcome_unknown"

    def _standing(self, job: JobView) -> str:
        return f"is {job.status}: an outcome is unknown, and a person decides"


class ActionFailed(ClientError):
    """The action's stored end is no success; ``action.error.code`` says why. Only a reset runs it again."""

    code = "action_failed"

    def __init__(self, action: ActionAnswer) -> None:
        """Keep the operation; say how it ended."""
        super().__init__(f"{action.action} {action.status}: {reason_of(action.error)}")
        self.action = action


class ActionCancelled(ActionFailed):
    """The action was cancelled, or its approval refused."""

    code = "action_cancelled"


class ActionParked(ClientError):
    """Nobody knows whether the action was done, and it may not be repeated; a person decides."""

    code = "action_parked"

    def __init__(self, action: ActionAnswer) -> None:
        """Keep the operation."""
        super().__init__(f"{action.action} needs a person's review: whether it was done is unknown")
        self.action = action


class ActionUnfinished(ClientError):
    """The time is over and the action is not; the same operation, asked for again, tells how it ended."""

    code = "action_unfinished"

    def __init__(self, operation_id: str) -> None:
        """Keep which."""
        super().__init__("the action goes on; ask again with the same operation_id")
        self.operation_id = operation_id
