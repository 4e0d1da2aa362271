"""What a client did that cannot be taken: nothing was stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from onceward.errors.root import OncewardError


@dataclass(frozen=True, slots=True)
class Fault:
    """One place in a request body that is wrong: a JSON pointer and why."""

    pointer: str
    detail: str


class RequestError(OncewardError):
    """The request cannot be taken; nothing was stored."""

    code = "bad_request"

    def __init__(
        self, detail: str = "", *, code: str | None = None, faults: Sequence[Fault] = (), job_id: str | None = None
    ) -> None:
        """Keep the faults by place, if there are any; ``job_id`` only where the client itself named a job of its own.

        So neither of a foreign or absent job, which must answer alike, nor of another request's (a reused key).
        """
        super().__init__(detail, code=code)
        self.faults = tuple(faults)
        self.job_id = job_id


class MalformedJson(RequestError):
    """The body is not I-JSON (RFC 7493)."""

    code = "malformed_json"


class TooDeep(MalformedJson):
    """The body is nested deeper than its limit."""

    code = "json_too_deep"


class MissingKey(RequestError):
    """The Idempotency-Key header is missing."""

    code = "idempotency_key_missing"


class MalformedKey(RequestError):
    """The Idempotency-Key header is outside its grammar, or was sent twice."""

    code = "idempotency_key_malformed"


class KeyTooLong(MalformedKey):
    """The Idempotency-Key is longer than its limit."""

    code = "idempotency_key_too_long"


class InvalidInput(RequestError):
    """The body is JSON but breaks the request's or the kind's model."""

    code = "invalid_input"


class UnknownKind(RequestError):
    """No job kind of that name is registered."""

    code = "unknown_kind"


class UnknownDocument(RequestError):
    """The input names a document that this tenant has not uploaded."""

    code = "unknown_document"


class KeyReused(RequestError):
    """The key already belongs to another request of this tenant."""

    code = "idempotency_key_reused"


class BudgetExceeded(RequestError):
    """The tenant's account has too little available for this job's charge."""

    code = "budget_exceeded"


class JobNotFound(RequestError):
    """No such job for this tenant; a foreign id answers exactly so."""

    code = "job_not_found"


class NotFinished(RequestError):
    """The job must have ended before this can be done."""

    code = "job_not_finished"


class Unauthorized(RequestError):
    """The request carries no identity that was verified."""

    code = "unauthorized"


class Forbidden(RequestError):
    """The identity lacks the tenant, the scope or the kind of token that this needs."""

    code = "forbidden"


class NotFound(RequestError):
    """There is no such route."""

    code = "not_found"


class MethodNotAllowed(RequestError):
    """The route exists, but not with this method."""

    code = "method_not_allowed"


class UnsupportedMedia(RequestError):
    """The body is announced as something other than JSON."""

    code = "unsupported_media_type"


class TooLarge(RequestError):
    """The body is larger than its limit."""

    code = "body_too_large"


class RateLimited(RequestError):
    """The tenant has created as many jobs as it may in this stretch of time."""

    code = "rate_limited"

    def __init__(self, detail: str = "", *, code: str | None = None, retry_after: timedelta = timedelta(0)) -> None:
        """``retry_after``: when the next stretch begins."""
        super().__init__(detail, code=code)
        self.retry_after = retry_after


class InFlightLimit(RateLimited):
    """As many jobs of the tenant's account are in flight as may be; one has to end first."""

    code = "in_flight_limit_reached"


class DocumentLimit(RateLimited):
    """The tenant has asked for as many upload forms as it may today."""

    code = "document_limit_reached"
