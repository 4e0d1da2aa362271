"""Why a person's verdict on a review is not taken: something else decided first, or is about to."""

from __future__ import annotations

from onceward.errors.request import RequestError


class NotInReview(RequestError):
    """The job is not in review in the epoch that the verdict is about."""

    code = "not_in_review"


class ReviewLooking(RequestError):
    """A run is just looking whether the truth can be found; ask again in a moment."""

    code = "review_looking"


class ReviewResolved(RequestError):
    """Somebody has resolved this review otherwise."""

    code = "review_resolved"


class CancelRecorded(RequestError):
    """A cancel is recorded, and goes before a result or another epoch: such a review can only be failed."""

    code = "cancel_recorded"


class AnswerArrived(RequestError):
    """The answer that the review waits for has come by itself; the job goes on with it now."""

    code = "answer_arrived"


class PaymentUnconfirmed(RequestError):
    """A retry may pay a second time, and the request does not say that this is meant."""

    code = "payment_unconfirmed"
