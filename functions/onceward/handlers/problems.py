"""The one table from the error tree to HTTP, and the one shape in which every error is answered.

A test asserts that each request and infrastructure error has its row, so a new error cannot reach a client unplaced.
What is not ours answers 500 without a word of its own: an exception's text may quote what it was given.
"""

from __future__ import annotations

import math

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.openapi.exceptions import (
    RequestUnsupportedContentType,
    RequestValidationError,
)

from onceward import errors
from onceward.usecases.pointers import bounded, detail_of, field_names, pointer
from onceward.wire.problem import MEDIA_TYPE, TYPE_PREFIX, Problem, ProblemFault, title_of
from onceward.wire.requests import ApproveAction, CreateJob, CreateUpload, PerformAction, ResetAction
from onceward.wire.reviews import ResolveReview

STATUS: dict[type[errors.OncewardError], int] = {
    errors.MalformedJson: 400,
    errors.TooDeep: 400,
    errors.MissingKey: 400,
    errors.MalformedKey: 400,
    errors.KeyTooLong: 400,
    errors.RequestError: 400,
    errors.Unauthorized: 401,
    errors.BudgetExceeded: 402,
    errors.Forbidden: 403,
    errors.JobNotFound: 404,
    errors.NotFound: 404,
    errors.MethodNotAllowed: 405,
    errors.KeyReused: 409,
    errors.NotFinished: 409,
    errors.NotInReview: 409,
    errors.ReviewLooking: 409,
    errors.ReviewResolved: 409,
    errors.CancelRecorded: 409,
    errors.AnswerArrived: 409,
    errors.TooLarge: 413,
    errors.UnsupportedMedia: 415,
    errors.InvalidInput: 422,
    errors.PaymentUnconfirmed: 422,
    errors.UnknownKind: 422,
    errors.UnknownDocument: 422,
    errors.UnknownAction: 422,
    errors.NotAdmissible: 422,
    errors.KeyDisagrees: 400,
    errors.OperationNotFound: 404,
    errors.OperationInProgress: 409,
    errors.NotAwaitingApproval: 409,
    errors.ArgumentsChanged: 409,
    errors.NotFailed: 409,
    errors.RateLimited: 429,
    errors.DocumentLimit: 429,
    errors.InFlightLimit: 429,
    errors.StoreUnavailable: 503,
    errors.StoreBusy: 503,
    errors.QueueUnavailable: 503,
    errors.BlobUnavailable: 503,
    errors.SecretUnavailable: 503,
    errors.InfrastructureError: 503,
}
# What Powertools itself reads of a body.
BODY_NAMES = frozenset[str]().union(
    *map(field_names, (CreateJob, CreateUpload, ResolveReview, PerformAction, ApproveAction, ResetAction))
)
INTERNAL = 500
RETRY_SECONDS = "2"  # our stores' own retries are over by then
# Clients made for model providers retry a bare 409; this one can never succeed.
FIXED_HEADERS: dict[type[errors.OncewardError], dict[str, str]] = {errors.KeyReused: {"x-should-retry": "false"}}


def status_of(error: errors.OncewardError) -> int:
    """The status of an error, by its nearest class in the table."""
    return next((STATUS[one] for one in type(error).__mro__ if one in STATUS), INTERNAL)


def to_error(error: Exception) -> errors.OncewardError:
    """What an exception means to a client; anything unknown becomes the base error, without its text."""
    match error:
        case errors.OncewardError():
            return error
        case RequestUnsupportedContentType():
            return errors.UnsupportedMedia("send application/json")
        case RequestValidationError():
            return errors.InvalidInput("the request breaks its model", faults=[_fault(one) for one in error.errors()])
        case NotFoundError():
            return errors.NotFound("no such route")
        case _:
            return errors.OncewardError("the request could not be handled")


def problem_response(error: errors.OncewardError, request_id: str, *, allow: str | None = None) -> Response[str]:
    """The answer for an error; ``allow`` names the methods of a route that lacks the one asked for."""
    status = status_of(error)
    problem = Problem(
        type=TYPE_PREFIX + error.code,
        title=title_of(error.code),
        status=status,
        detail=error.detail or None,
        code=error.code,
        errors=tuple(ProblemFault(pointer=one.pointer, detail=one.detail) for one in _faults(error)),
        job_id=error.job_id if isinstance(error, errors.RequestError) else None,
        request_id=request_id,
    )
    headers: dict[str, str | list[str]] = {"Cache-Control": "no-store", **FIXED_HEADERS.get(type(error), {})}
    if isinstance(error, errors.InfrastructureError):
        headers["Retry-After"] = RETRY_SECONDS
    if isinstance(error, errors.RateLimited | errors.OperationInProgress):
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after.total_seconds())))
    if allow is not None:
        headers["Allow"] = allow
    return Response(
        status_code=status, content_type=MEDIA_TYPE, body=problem.model_dump_json(exclude_none=True), headers=headers
    )


def plain_reply(response: Response[str]) -> dict[str, object]:
    """A response as the gateway takes it, where the resolver is not in between."""
    headers = {"Content-Type": response.content_type, **response.headers}
    return {"statusCode": response.status_code, "headers": headers, "body": response.body, "isBase64Encoded": False}


def _faults(error: errors.OncewardError) -> tuple[errors.Fault, ...]:
    """The places that are wrong, where an error names some: so many that the answer stays small."""
    return bounded(error.faults) if isinstance(error, errors.RequestError) else ()


def _fault(found: dict[str, object]) -> errors.Fault:
    """One complaint of Powertools: a pointer into the body, or the name of a parameter."""
    where = found.get("loc")
    steps = list(where) if isinstance(where, list | tuple) else []
    if steps[:1] == ["body"]:
        return errors.Fault(pointer(steps[1:], BODY_NAMES), detail_of(found))
    return errors.Fault(".".join(str(step) for step in steps), detail_of(found))  # a parameter that we named
