"""What the refusal of a repeat leaves: a send under the same key went before it, and the refusal is not about that one.

A repeat takes the place of the maybe that it repeats, so the row would forget the first send with the second. What that
may have changed or cost is remembered until something speaks of it itself: a late answer, a lookup, a person.
"""

from __future__ import annotations

from dataclasses import replace

from onceward.domain.error_class import RETRYABLE
from onceward.domain.job import Job, OpenCall
from onceward.domain.money import Cost
from onceward.domain.records import Answer
from onceward.domain.states import CallState


def is_silent(call: OpenCall, refusal: Answer) -> bool:
    """Whether a refusal of this send says nothing of the one before it.

    A target that refuses now may have done then what it was asked. What a model refuses for good, it would have refused
    then. Of work that was taken under a reference it is no refusal, but that work's end.
    """
    was_refused = call.is_repeat and call.state is not CallState.SUBMITTED
    return was_refused and (call.target is not None or refusal.error_class in RETRYABLE)


def stands_for_both(call: OpenCall, refusal: Answer) -> bool:
    """Whether the bound of a call that was refused is also that of the send before it, and so is booked or stays.

    Not where the earlier bound was booked as one of its own, nor where the answer is the model's own to the one
    purchase that both sends are. Of a repeat that does not say what it repeats nobody knows: rather booked than lost.
    """
    if not call.is_repeat or call.state is CallState.SUBMITTED or refusal.model is not None:
        return False
    return call.repeats is None or not call.repeats.is_booked


def after_refusal(job: Job, call: OpenCall, refusal: Answer) -> Job:
    """The row once a refused call is closed and its own cost is booked.

    A silent refusal opens the earlier send again as it was, its key and its epoch included, and takes its bound back
    out of what was spent: whoever repeats it once more books it once more. Any other ends both sends: the first one's
    bound stays in the books.
    """
    if not is_silent(call, refusal):
        bound = call.max_cost if call.repeats is None else call.repeats.max_cost
        return replace(job, spent=job.spent + Cost.maybe(bound)) if stands_for_both(call, refusal) else job
    return with_earlier_send(job, call)


def with_earlier_send(job: Job, call: OpenCall) -> Job:
    """The row of a closed repeat: the send before it, if any, is open again as it was, and its bound no more spent."""
    earlier = call.repeats
    if earlier is None:
        return job
    again = replace(
        call,
        state=CallState.UNKNOWN,
        epoch=earlier.epoch,
        attempt=earlier.attempt,
        sent_at=earlier.sent_at,
        max_cost=earlier.max_cost,
        promised=earlier.promised,
        repeats=None,
    )
    spent = job.spent.without(Cost.maybe(earlier.max_cost)) if earlier.is_booked else job.spent
    return replace(job, open=(*job.open, again), spent=spent)
