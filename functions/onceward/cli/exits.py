"""The exit codes: how a script tells a failed job from a failed question.

The table in ``docs/client.md`` is this one; a test holds them together.
"""

from __future__ import annotations

from enum import IntEnum

from onceward.client import (
    ActionCancelled,
    ActionFailed,
    ActionParked,
    ActionUnfinished,
    ClientError,
    JobCancelled,
    JobFailed,
    Misconfigured,
    OutcomeUnknown,
    WaitTimeout,
)
from onceward.client.document import EmptyFile
from onceward.errors import MalformedKey, OncewardError, TooLarge


class ExitCode(IntEnum):
    """What a command ends with."""

    OK = 0
    JOB_FAILED = 1
    USAGE = 2
    JOB_CANCELLED = 3
    WAIT_TIMEOUT = 4
    OUTCOME_UNKNOWN = 5
    API = 6
    BOOKS_DIFFER = 7
    INTERRUPTED = 130  # 128 + SIGINT, as shells say it


MEANINGS = {
    ExitCode.OK: "done, and with a wait: the job succeeded",
    ExitCode.JOB_FAILED: "the job failed",
    ExitCode.USAGE: "the command was wrong, nothing was sent",
    ExitCode.JOB_CANCELLED: "the job was cancelled",
    ExitCode.WAIT_TIMEOUT: "the time to wait is over, the job goes on",
    ExitCode.OUTCOME_UNKNOWN: "an outcome is unknown, the job needs a person's review",
    ExitCode.API: "the API, a table or a queue refused, or did not answer",
    ExitCode.BOOKS_DIFFER: "a tenant's books are not what its jobs say",
    ExitCode.INTERRUPTED: "interrupted, a submitted job goes on",
}
OF_ERRORS: dict[type[OncewardError], ExitCode] = {
    JobFailed: ExitCode.JOB_FAILED,
    JobCancelled: ExitCode.JOB_CANCELLED,
    WaitTimeout: ExitCode.WAIT_TIMEOUT,
    OutcomeUnknown: ExitCode.OUTCOME_UNKNOWN,
    ActionFailed: ExitCode.JOB_FAILED,
    ActionCancelled: ExitCode.JOB_CANCELLED,
    ActionUnfinished: ExitCode.WAIT_TIMEOUT,
    ActionParked: ExitCode.OUTCOME_UNKNOWN,
    Misconfigured: ExitCode.USAGE,
    MalformedKey: ExitCode.USAGE,
    TooLarge: ExitCode.USAGE,
    EmptyFile: ExitCode.USAGE,
    ClientError: ExitCode.API,
}


def exit_code(error: OncewardError) -> ExitCode:
    """The code of an error, by its nearest class in the table."""
    return next((OF_ERRORS[one] for one in type(error).__mro__ if one in OF_ERRORS), ExitCode.API)
