"""The history of a job: every attempt of every epoch, what each call of it came to, and what it cost by now.

What a row or an attempt's item says of its costs was true when it was written. An answer that came later replaces the
bound that stood for it, wherever it is told: the books keep the bound, which the truth lies within.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from onceward.domain.job import Job, OpenCall, PresentAttempt
from onceward.domain.money import Cost
from onceward.domain.names import DownstreamKey, StepKey
from onceward.domain.records import LOCAL, Answer, PastAttempt, Usage, past_attempt
from onceward.domain.repeating import stands_for_both
from onceward.domain.states import AttemptOutcome, AttemptStage, CallState


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLine:
    """One call of an attempt: answered, or still a maybe with its bound."""

    step: StepKey
    key: DownstreamKey
    state: CallState
    cost: Cost
    sent_at: datetime | None = None
    answered_at: datetime | None = None
    provider: str | None = None
    model: str | None = None
    request_id: str | None = None
    usage: Usage | None = None
    error_class: str | None = None
    error_code: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptLine:
    """One attempt, with its calls in the order of their steps; ``decision``: why it was tried again, or not."""

    epoch: int
    number: int
    attempt: PresentAttempt
    stage: AttemptStage
    calls: tuple[CallLine, ...]
    decision: str | None = None


def history_of(job: Job, past: Iterable[PastAttempt], answers: Sequence[Answer]) -> tuple[AttemptLine, ...]:
    """All attempts, the oldest first; ``past``: those that the row has moved on from.

    The row speaks for the present one, and once the job has ended its item for the calls that were open then.
    """
    items = {(one.epoch, one.number): one for one in past}
    present = past_attempt(job)
    if present is not None:
        kept = items.get((present.epoch, present.number))
        if kept is not None:
            open_ = kept.open if job.state.is_terminal else present.open
            present = replace(present, open=open_, reasons=kept.reasons)
        items[present.epoch, present.number] = present
    return tuple(_line(items[place], answers) for place in sorted(items))


def cost_of_job(job: Job, open_at_end: Iterable[OpenCall], answers: Sequence[Answer]) -> Cost:
    """What the job cost, late answers included; ``open_at_end``: the calls whose bounds its end has booked.

    A bound that stands for the send before a refused one too is settled by nothing that speaks of one of them.
    """
    bounds = [call for call in (open_at_end if job.state.is_terminal else job.open) if not _is_kept(call, answers)]
    return _told(job.possible_spent, bounds, answers)


def _is_kept(call: OpenCall, answers: Iterable[Answer]) -> bool:
    """Whether a call's bound stays although the call was answered."""
    answer = _answer_to(call, answers)
    return answer is not None and answer.state is CallState.FAILED and stands_for_both(call, answer)


def _line(item: PastAttempt, answers: Sequence[Answer]) -> AttemptLine:
    """One attempt."""
    place = (item.epoch, item.number)
    own = [one for one in answers if (one.epoch, one.attempt) == place]
    open_ = [call for call in item.open if (call.epoch, call.attempt) == place]
    left = [call for call in open_ if _answer_to(call, answers) is None]
    calls = sorted([*map(_answered, own, _sent(own, open_)), *map(unanswered, left)], key=lambda line: line.step)
    attempt = replace(item.attempt, cost=_told(item.attempt.cost, open_, answers))
    stage = _stage(item.attempt, has_left=bool(left), has_answer=any(one.provider != LOCAL for one in own))
    return AttemptLine(
        epoch=item.epoch,
        number=item.number,
        attempt=attempt,
        stage=stage,
        calls=tuple(calls),
        decision=item.reasons or attempt.decision,
    )


def _stage(attempt: PresentAttempt, *, has_left: bool, has_answer: bool) -> AttemptStage:
    """How far it came."""
    if attempt.outcome is AttemptOutcome.SUCCEEDED:
        return AttemptStage.ACCEPTED
    if has_left:
        return AttemptStage.SENT
    return AttemptStage.ANSWERED if has_answer else AttemptStage.STARTED


def _told(cost: Cost, bounds: Iterable[OpenCall], answers: Sequence[Answer]) -> Cost:
    """A cost in which each bound that an answer has settled since gives way to the answer's."""
    for call in bounds:
        answer = _answer_to(call, answers)
        cost = cost if answer is None else cost.turned_out(call.max_cost, answer.cost)
    return cost


def _answer_to(call: OpenCall, answers: Iterable[Answer]) -> Answer | None:
    """What came for this very send."""
    place = (call.epoch, call.attempt, call.step)
    return next((one for one in answers if (one.epoch, one.attempt, one.step) == place), None)


def _sent(answers: Iterable[Answer], open_: Sequence[OpenCall]) -> Iterator[datetime | None]:
    """When each answered call was sent, where an entry still says so."""
    for one in answers:
        yield next((call.sent_at for call in open_ if call.step == one.step), None)


def _answered(answer: Answer, sent_at: datetime | None) -> CallLine:
    """A call whose answer is held, good or failed."""
    return CallLine(
        step=answer.step,
        key=answer.key,
        state=answer.state,
        cost=answer.cost,
        sent_at=sent_at,
        answered_at=answer.answered_at,
        provider=answer.provider,
        model=answer.model,
        request_id=answer.request_id,
        usage=answer.usage,
        error_class=answer.error_class,
        error_code=answer.error_code,
    )


def unanswered(call: OpenCall) -> CallLine:
    """A call that is still a maybe."""
    return CallLine(
        step=call.step,
        key=call.key,
        state=call.state,
        cost=Cost.maybe(call.max_cost),
        sent_at=call.sent_at,
        provider=call.target,
    )
